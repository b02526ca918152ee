//! Which addresses belong to the network that we stand in, or to nobody: a report must not have us
//! ask there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// What of IPv4 is not the public internet, by IANA's registry of special addresses.
const NOT_PUBLIC_4: [Ipv4Net; 17] = [
    four(0, 0, 0, 0, 8),          // this network, unspecified
    four(10, 0, 0, 0, 8),         // private
    four(100, 64, 0, 0, 10),      // carriers' own
    four(127, 0, 0, 0, 8),        // loopback
    four(168, 63, 129, 16, 32),   // a cloud's own services, though the address looks public
    four(169, 254, 0, 0, 16),     // link-local, with clouds' metadata
    four(172, 16, 0, 0, 12),      // private
    four(192, 0, 0, 0, 24),       // protocol assignments
    four(192, 0, 2, 0, 24),       // documentation
    four(192, 88, 99, 0, 24),     // relays that are no more
    four(192, 168, 0, 0, 16),     // private
    four(198, 18, 0, 0, 15),      // benchmarks
    four(198, 51, 100, 0, 24),    // documentation
    four(203, 0, 113, 0, 24),     // documentation
    four(224, 0, 0, 0, 4),        // multicast
    four(240, 0, 0, 0, 4),        // reserved
    four(255, 255, 255, 255, 32), // broadcast
];

/// Where all public addresses of IPv6 are.
const PUBLIC_6: Ipv6Net = six(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
/// What of these is not public.
const NOT_PUBLIC_6: [Ipv6Net; 3] = [
    six(Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments, Teredo
    six(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    six(Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

const fn four(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn six(address: Ipv6Addr, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(address, length)
}

/// Whether an address is on the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match carried(address) {
        IpAddr::V4(address) => !NOT_PUBLIC_4.iter().any(|net| net.contains(&address)),
        IpAddr::V6(address) => {
            let excepted = NOT_PUBLIC_6.iter().any(|net| net.contains(&address));
            PUBLIC_6.contains(&address) && !excepted
        }
    }
}

/// Whether one of these networks has an address, in whatever form it comes.
pub(super) fn is_listed(listed: &[IpNet], address: IpAddr) -> bool {
    let carried = carried(address);
    let mut listed = listed.iter();
    listed.any(|net| net.contains(&address) || net.contains(&carried))
}

/// The address of IPv4 that one of IPv6 leads to, where it does.
fn carried(address: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = address else {
        return address;
    };
    let four = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    match six.segments() {
        // Mapped, compatible (also `::` and `::1`, which are private as well), behind NAT64, 6to4.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] => four(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => four(high, low),
        [0x2002, high, low, ..] => four(high, low),
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIVATE: &[&str] = &[
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.100.100.200",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "168.63.129.16",
        "169.254.0.0",
        "169.254.169.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.7",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::a00:1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:0:127.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:1ff:ffff::1",
        "2001:db8::1",
        "2002:a00:1::1",
        "2002:7f00:1::1",
        "2002:a9fe:a9fe::",
        "3fff::1",
        "3fff:fff:ffff::1",
        "4000::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fdff:ffff::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
    ];

    const PUBLIC: &[&str] = &[
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "140.82.112.5",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "::ffff:140.82.112.5",
        "64:ff9b::8c52:7005",
        "2002:8c52:7005::1",
        "2001:200::1",
        "2606:50c0:8000::153",
        "2a01::1",
        "3ffe::1",
    ];

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_not_the_public_internet_is_known() {
        for text in PRIVATE {
            assert!(!is_public(address(text)), "{text}");
        }
        for text in PUBLIC {
            assert!(is_public(address(text)), "{text}");
        }
    }

    #[test]
    fn a_listed_address_is_listed_in_every_form() {
        let listed: Vec<IpNet> = ["127.0.0.1/32", "10.0.0.0/8", "fd00::/8"]
            .map(|net| net.parse().unwrap())
            .into();
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "::ffff:10.1.2.3",
            "64:ff9b::10.1.2.3",
            "fd12::1",
        ] {
            assert!(is_listed(&listed, address(text)), "{text}");
        }
        for text in [
            "127.0.0.2",
            "11.0.0.1",
            "::1",
            "fc00::1",
            "::ffff:127.0.0.2",
        ] {
            assert!(!is_listed(&listed, address(text)), "{text}");
        }
    }
}
