//! A port on loopback that stays ours while nobody listens on it.

use std::{
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    os::fd::OwnedFd,
};

use rustix::{
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with, sockopt},
};

use crate::error::{Error, to};

/// A port of 127.0.0.1. While this is there, the system gives it to nobody who asks for any port
/// that is free, be it to listen or to connect; and a server that asks for this very one gets it,
/// since it too allows that an address is bound twice, and this socket never listens. So there is
/// no race for it, neither at the first start nor at a restart.
#[derive(Debug)]
pub(crate) struct Port {
    number: u16,
    _socket: OwnedFd,
}

impl Port {
    pub(crate) fn reserve() -> Result<Self, Error> {
        reserve().map_err(to("reserve a port"))
    }

    pub(crate) fn number(&self) -> u16 {
        self.number
    }
}

fn reserve() -> Result<Port, Errno> {
    // Not inherited: it is to be free when this process is gone.
    let kind = (SocketType::STREAM, SocketFlags::CLOEXEC);
    let socket = socket_with(AddressFamily::INET, kind.0, kind.1, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    let address = SocketAddr::try_from(getsockname(&socket)?)?;
    Ok(Port {
        number: address.port(),
        _socket: socket,
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn who_asks_for_it_may_listen_more_than_once() {
        let port = Port::reserve().unwrap();
        let address = (Ipv4Addr::LOCALHOST, port.number());
        for _ in 0..2 {
            assert!(TcpStream::connect(address).is_err());
            let server = TcpListener::bind(address).unwrap();
            let client = TcpStream::connect(address).unwrap();
            // Closed by the server first, so that its end lingers, as at a shutdown.
            drop(server.accept().unwrap());
            drop((server, client));
        }
    }
}
