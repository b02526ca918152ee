//! Strict JSON, against a reader of another make.

use std::fmt;

use fencepost_identity::{
    canonical::to_canonical,
    json::{DEPTH_MAX, parse},
    refusal::Refusal,
};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// A document: read by both or by neither, but for what the strict reader is there to refuse; and
/// its canonical form is one.
pub fn documents(data: &[u8]) {
    let strict = parse(data);
    let text = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    let mut found = Found::default();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let lenient = Walk(&mut found, 0)
        .deserialize(&mut reader)
        .and_then(|()| reader.end());
    match (&strict, lenient) {
        (Ok(value), Ok(())) => {
            assert!(!found.duplicate, "a member twice");
            assert!(found.depth <= DEPTH_MAX, "too deep");
            let Ok(canonical) = to_canonical(value) else {
                return;
            };
            let again = parse(canonical.as_bytes()).map(|value| to_canonical(&value));
            assert_eq!(again, Ok(Ok(canonical)), "canonical once, canonical ever");
        }
        (Err(Refusal::DuplicateMember), Ok(())) => assert!(found.duplicate, "no member twice"),
        (Err(refusal), Ok(())) => {
            assert_eq!(*refusal, Refusal::InvalidJson);
            assert!(found.depth > DEPTH_MAX, "JSON after all");
        }
        // The other reader knows no half surrogates, and gives up on numbers beyond its own.
        (Ok(_) | Err(Refusal::DuplicateMember), Err(error)) => {
            let message = error.to_string();
            let known = [
                "surrogate",
                "hex escape",
                "number out of range",
                "recursion",
            ];
            assert!(known.iter().any(|part| message.contains(part)), "{message}");
        }
        (Err(refusal), Err(_)) => assert_eq!(*refusal, Refusal::InvalidJson),
    }
}

#[derive(Default)]
struct Found {
    duplicate: bool,
    depth: usize,
}

/// Walks through a document without keeping it.
struct Walk<'f>(&'f mut Found, usize);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl Walk<'_> {
    fn enter(&mut self) -> usize {
        let depth = self.1 + 1;
        self.0.depth = self.0.depth.max(depth);
        depth
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let depth = self.enter();
        while items.next_element_seed(Walk(self.0, depth))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        let depth = self.enter();
        let mut names = std::collections::BTreeSet::new();
        while let Some(name) = members.next_key::<String>()? {
            self.0.duplicate |= !names.insert(name);
            members.next_value_seed(Walk(self.0, depth))?;
        }
        Ok(())
    }
}
