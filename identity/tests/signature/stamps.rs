//! The forms of a stated time, each with its neighbours that are none.

use fencepost_identity::signature::StampFormat;
use proptest::prelude::*;

use crate::fixtures::NOW;

const LATEST: u64 = 99_999_999_999;
const END_OF_YEAR_9999: u64 = 253_402_300_800;

#[test]
fn milliseconds_are_never_taken_for_seconds_nor_the_reverse() {
    let seconds = |text: &str| StampFormat::UnixSeconds.read(text.as_bytes());
    let milliseconds = |text: &str| StampFormat::UnixMilliseconds.read(text.as_bytes());
    assert_eq!(seconds("1800000000"), Some(NOW));
    assert_eq!(seconds("99999999999"), Some(LATEST));
    assert_eq!(seconds("1800000000000"), None);
    assert_eq!(milliseconds("1800000000000"), Some(NOW));
    assert_eq!(milliseconds("1800000000999"), Some(NOW));
    assert_eq!(milliseconds("99999999999999"), Some(LATEST));
    assert_eq!(milliseconds("999999999999"), Some(999_999_999));
    for text in [
        "1800000000",
        "99999999999",
        "999999999999999",
        "01800000000000",
    ] {
        assert_eq!(milliseconds(text), None, "{text}");
    }
}

#[test]
fn rfc3339_is_read_strictly() {
    let read = |text: &str| StampFormat::Rfc3339.read(text.as_bytes());
    for text in [
        "2027-01-15T08:00:00Z",
        "2027-01-15T08:00:00+00:00",
        "2027-01-15T08:00:00-00:00",
        "2027-01-15T09:30:00+01:30",
        "2027-01-14T18:00:00-14:00",
        "2027-01-15T08:00:00.9Z",
        "2027-01-15T08:00:00.123456789Z",
    ] {
        assert_eq!(read(text), Some(NOW), "{text}");
    }
    assert_eq!(read("1970-01-01T00:00:00Z"), Some(0));
    assert_eq!(read("2028-02-29T00:00:00Z"), Some(1_835_395_200));
    for text in [
        "",
        "2027-01-15",
        "2027-01-15T08:00:00",
        "2027-01-15 08:00:00Z",
        "2027-01-15t08:00:00Z",
        "2027-01-15T08:00:00z",
        "2027-01-15T08:00Z",
        "2027-01-15T08:00:00.Z",
        "2027-01-15T08:00:00,5Z",
        "2027-01-15T08:00:00.1234567890Z",
        "2027-01-15T08:00:00+0000",
        "2027-01-15T08:00:00+24:00",
        "2027-01-15T08:00:00+01:60",
        "2027-01-15T08:00:00Z ",
        " 2027-01-15T08:00:00Z",
        "2027-01-15T08:00:00ZZ",
        "2027-02-29T00:00:00Z",
        "2027-13-01T00:00:00Z",
        "2027-00-01T00:00:00Z",
        "2027-01-15T24:00:00Z",
        "2027-01-15T08:60:00Z",
        "2027-01-15T08:00:60Z",
        "+2027-01-15T08:00:00Z",
        "02027-01-15T08:00:00Z",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+00:01",
        "2027-01-1５T08:00:00Z",
        "1800000000",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn imf_fixdate_is_read_strictly() {
    let read = |text: &str| StampFormat::ImfFixdate.read(text.as_bytes());
    assert_eq!(read("Fri, 15 Jan 2027 08:00:00 GMT"), Some(NOW));
    assert_eq!(read("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
    for text in [
        "",
        "Thu, 15 Jan 2027 08:00:00 GMT",
        "Fri, 15 Jan 2027 08:00:00 UTC",
        "Fri, 15 Jan 2027 08:00:00 +0000",
        "Fri, 15 jan 2027 08:00:00 GMT",
        "Fri,  15 Jan 2027 08:00:00 GMT",
        "Fri, 15 Jan 2027 8:00:00 GMT",
        "Fri, 15-Jan-27 08:00:00 GMT",
        "Friday, 15 Jan 2027 08:00:00 GMT",
        "15 Jan 2027 08:00:00 GMT",
        "Fri, 15 Jan 2027 08:00:00 GMT ",
        "Fri, 15 Jan 2027 08:00:60 GMT",
        "Wed, 31 Dec 1969 23:59:59 GMT",
        "Fri Jan 15 08:00:00 2027",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(seconds in 100_000_000..=LATEST) {
        for (name, format) in StampFormat::NAMES {
            let text = format.write(seconds);
            prop_assert_eq!(format.read(text.as_bytes()), Some(seconds), "{}: {}", name, text);
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(text in prop::collection::vec(any::<u8>(), 0..40)) {
        for (_, format) in StampFormat::NAMES {
            let seconds = format.read(&text);
            prop_assert!(seconds.is_none_or(|seconds| seconds < END_OF_YEAR_9999));
        }
    }

    /// Times that are nearly right, so that each place of the form is reached.
    #[test]
    fn a_changed_byte_never_makes_it_panic(at in 0..29_usize, byte in any::<u8>()) {
        for (_, format) in StampFormat::NAMES {
            let mut text = format.write(NOW).into_bytes();
            if let Some(place) = text.get_mut(at) {
                *place = byte;
            }
            let seconds = format.read(&text);
            prop_assert!(seconds.is_none_or(|seconds| seconds < END_OF_YEAR_9999));
        }
    }
}
