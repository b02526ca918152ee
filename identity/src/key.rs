//! The keys: what must happen once is keyed by one of these, and by nothing else.

use std::{fmt, str::FromStr};

use crate::{
    identity::{Identity, Namespace, ReportId, Tenant},
    preimage::Preimage,
    refusal::write_hex,
};

/// A text that is no key: a key is 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is 64 lower-case hexadecimal digits")]
pub struct NotAKey;

/// Reads 64 lower-case hexadecimal digits.
pub(crate) fn read_hex(text: &str) -> Result<[u8; 32], NotAKey> {
    let digits: &[u8; 64] = text.as_bytes().try_into().map_err(|_| NotAKey)?;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = *pair else {
            return Err(NotAKey);
        };
        *byte = (nibble(high)? << 4) | nibble(low)?;
    }
    Ok(bytes)
}

fn nibble(digit: u8) -> Result<u8, NotAKey> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(NotAKey),
    }
}

macro_rules! digest_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name([u8; 32]);

        impl $name {
            /// The 32 bytes, as they go into another key and into the database.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }

            /// Takes 32 bytes that were derived before, such as those that a database kept.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotAKey;

            fn from_str(text: &str) -> Result<Self, NotAKey> {
                read_hex(text).map(Self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

digest_type! {
    /// Names a report for ever: the key of the ingress fence.
    ReportKey
}
digest_type! {
    /// Names a report under one classifier version: the key of the claim fence.
    ClaimKey
}
digest_type! {
    /// What a provider gets as idempotency key or custom id.
    CallKey
}
digest_type! {
    /// Names a report's result under one schema version: the key of the commit fence.
    ResultKey
}
digest_type! {
    /// Names one finding of a result; its prose is never part of it.
    FindingKey
}
digest_type! {
    /// Follows one finding through the versions of what it was found in; its prose is never part of
    /// it.
    LineageKey
}
digest_type! {
    /// Names an event of the outbox, and is its message id.
    EventKey
}
digest_type! {
    /// SHA-256 over the immutable input of a report.
    InputHash
}
digest_type! {
    /// SHA-256 over the members that make up a content version.
    ContentHash
}
digest_type! {
    /// SHA-256 over a source's mapping: what its reports' identities are read with.
    MappingDigest
}

impl ReportKey {
    /// The key of an identity.
    #[must_use]
    pub fn of(identity: &Identity) -> Self {
        Self(
            Preimage::of("fencepost/report/1")
                .field(identity.tenant.as_bytes())
                .field(identity.namespace.as_bytes())
                .field(identity.report_id.as_bytes())
                .field(identity.version.to_string().as_bytes())
                .finish(),
        )
    }
}

impl ClaimKey {
    /// The key of a report under a classifier version.
    #[must_use]
    pub fn of(report: &ReportKey, classifier_version: &str) -> Self {
        let preimage = Preimage::of("fencepost/claim/1").field(report.as_bytes());
        Self(preimage.field(classifier_version.as_bytes()).finish())
    }
}

impl CallKey {
    /// The key of the `n`th question to a model: `n` starts at 1 and rises only when a verdict on
    /// an answer was recorded.
    #[must_use]
    pub fn of(claim: &ClaimKey, n: u32) -> Self {
        let preimage = Preimage::of("fencepost/call/1").field(claim.as_bytes());
        Self(preimage.field(n.to_string().as_bytes()).finish())
    }
}

impl ResultKey {
    /// The key of a report's result under a schema version.
    #[must_use]
    pub fn of(report: &ReportKey, schema_version: &str) -> Self {
        let preimage = Preimage::of("fencepost/result/1").field(report.as_bytes());
        Self(preimage.field(schema_version.as_bytes()).finish())
    }
}

impl FindingKey {
    /// The key of a finding by the fields that its pipeline names as its fingerprint.
    #[must_use]
    pub fn of<T: AsRef<str>>(result: &ResultKey, fingerprint: &[T]) -> Self {
        let preimage = Preimage::of("fencepost/finding/1").field(result.as_bytes());
        let fields = fingerprint.iter();
        Self(
            fields
                .fold(preimage, |p, field| p.field(field.as_ref().as_bytes()))
                .finish(),
        )
    }
}

impl LineageKey {
    /// The key that findings of the same fields have in all versions of a report.
    #[must_use]
    pub fn of<T: AsRef<str>>(
        tenant: &Tenant,
        namespace: &Namespace,
        report_id: &ReportId,
        fingerprint: &[T],
    ) -> Self {
        let preimage = Preimage::of("fencepost/lineage/1")
            .field(tenant.as_bytes())
            .field(namespace.as_bytes())
            .field(report_id.as_bytes());
        let fields = fingerprint.iter();
        Self(
            fields
                .fold(preimage, |p, field| p.field(field.as_ref().as_bytes()))
                .finish(),
        )
    }
}

impl EventKey {
    /// The key of an event by its kind and its number within the report.
    #[must_use]
    pub fn of(report: &ReportKey, kind: &str, sequence: u64) -> Self {
        let preimage = Preimage::of("fencepost/event/1").field(report.as_bytes());
        Self(
            preimage
                .field(kind.as_bytes())
                .field(sequence.to_string().as_bytes())
                .finish(),
        )
    }
}
