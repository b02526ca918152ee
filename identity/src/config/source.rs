//! One source: how its deliveries are verified, identified and forwarded.

use super::{
    InputForm, Item, Section,
    fetch::Surroundings,
    input::{input, pointers},
    secrets::{Secrets, secrets},
    verify::{Verify, verify},
};
use crate::{
    canonical::to_canonical,
    identity::{Namespace, Tenant},
    json::Value,
    mapping::{Mapping, TenantForm, VersionForm},
    pointer::Pointer,
    signature::{Algorithm, Scheme},
};

const BODY_BYTES_DEFAULT: u64 = 1_048_576;
/// No provider sends more, and the whole body is held in memory.
const BODY_BYTES_MAX: u64 = 25 * 1_048_576;
/// A sender waits 3 s at the shortest.
const ACK_DEADLINE_MS_DEFAULT: u64 = 2_500;
const ACK_DEADLINE_MS_MAX: u64 = 60_000;

/// A source: one route of deliveries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The segment of its route: 1 to 64 of `a-z 0-9 - _`.
    pub name: String,
    /// How its deliveries are verified.
    pub verify: Verify,
    /// Which variables hold its secrets.
    pub secrets: Secrets,
    /// Which tenants its sender may name.
    pub senders: Senders,
    /// The pipeline that its reports go to.
    pub pipeline: String,
    /// What a delivery must have to be a report; any other is ignored.
    pub filter: Vec<Filter>,
    /// The most bytes of a body.
    pub max_body_bytes: usize,
    /// What to do with a compressed body.
    pub content_encoding: ContentEncoding,
    /// How long the sender waits for the report to be stored, in milliseconds.
    pub ack_deadline_ms: u64,
    /// How its reports are identified.
    pub mapping: Mapping,
    /// What tells which version of a report is current.
    pub order: Option<Pointer>,
    /// Where the immutable input comes from.
    pub input: InputForm,
    /// For people, and what content is fetched by: by name.
    pub links: Vec<(String, Pointer)>,
}

/// What to do with a body that the sender has compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentEncoding {
    /// Refuse it: nobody has said which bytes are signed.
    Refused,
    /// The signature covers the bytes as they were sent.
    Wire,
    /// The signature covers the bytes that they decompress to.
    Decoded,
}

/// Which tenants a sender may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Senders {
    /// Any: the tenant is fixed, or the secret belongs to it, or the sender is trusted.
    Any,
    /// Only these.
    Tenants(Vec<Tenant>),
}

impl Senders {
    /// Whether the sender may name this tenant.
    #[must_use]
    pub fn may_name(&self, tenant: &Tenant) -> bool {
        match self {
            Self::Any => true,
            Self::Tenants(tenants) => tenants.contains(tenant),
        }
    }
}

/// A member of the payload and the values that it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Where the member stands.
    pub pointer: Pointer,
    /// Canonical JSON of each value.
    allowed: Vec<String>,
}

impl Filter {
    /// Whether a payload has the member with one of the values.
    #[must_use]
    pub fn matches(&self, payload: &Value<'_>) -> bool {
        let value = self
            .pointer
            .find(payload)
            .and_then(|value| to_canonical(value).ok());
        value.is_some_and(|value| self.allowed.contains(&value))
    }
}

impl Source {
    /// Reads one table of `source`; mistakes are noted in the document.
    pub(super) fn read(name: &str, item: &Item<'_, '_>) -> Option<Self> {
        let mut table = item.table()?;
        let default_namespace = Namespace::new(name);
        if default_namespace.is_err() {
            item.error(
                "a source is named by 1 to 64 of a-z 0-9 - _: its name is part of its route",
            );
        }
        let verify = table.require("verify").and_then(|item| verify(&item));
        let identity = table.require("identity").and_then(|item| item.table());
        let order_and_mapping = identity.and_then(|table| mapping(table, default_namespace.ok()));
        let tenant = order_and_mapping
            .as_ref()
            .map(|(_, mapping)| mapping.tenant.clone());
        let secrets = table
            .require("secrets")
            .and_then(|item| secrets(&item, tenant.as_ref()));
        if let (Some(verify), Some(secrets)) = (&verify, &secrets) {
            check_derivation(item, &verify.scheme, secrets);
        }
        if let (Some(verify), Some(tenant)) = (&verify, &tenant) {
            check_url(item, &verify.scheme, tenant);
        }
        let senders = senders(&mut table, tenant.as_ref());
        let pipeline = table.require("pipeline").and_then(|item| item.text());
        let filter = table
            .get("filter")
            .map_or(Some(vec![]), |item| filters(&item));
        let max_body_bytes = table.get("max_body_bytes");
        let max_body_bytes = max_body_bytes
            .map_or(Some(BODY_BYTES_DEFAULT), |item| {
                item.integer(1, BODY_BYTES_MAX)
            })
            .and_then(|bytes| usize::try_from(bytes).ok());
        let content_encoding = table
            .get("content_encoding")
            .map_or(Some(ContentEncoding::Refused), |item| {
                content_encoding(&item)
            });
        let ack_deadline_ms = table
            .get("ack_deadline_ms")
            .map_or(Some(ACK_DEADLINE_MS_DEFAULT), |item| {
                item.integer(1, ACK_DEADLINE_MS_MAX)
            });
        let links = table
            .get("links")
            .map_or(Some(vec![]), |item| pointers(&item.table()?));
        let mapped = order_and_mapping.as_ref();
        let around = Surroundings {
            links: links.as_deref(),
            version: mapped.map(|(_, mapping)| &mapping.version),
        };
        let input = input(&mut table, around);
        table.finish();
        let (order, mapping) = order_and_mapping?;
        Some(Self {
            name: name.to_owned(),
            verify: verify?,
            secrets: secrets?,
            senders: senders?,
            pipeline: pipeline?.to_owned(),
            filter: filter?,
            max_body_bytes: max_body_bytes?,
            content_encoding: content_encoding?,
            ack_deadline_ms: ack_deadline_ms?,
            mapping,
            order,
            input: input?,
            links: links?,
        })
    }

    /// Whether this source and another would give one report two meanings.
    pub(super) fn clashes_with(&self, other: &Self) -> bool {
        let shared = self.mapping.namespace == other.mapping.namespace;
        let same = self.mapping == other.mapping
            && self.input == other.input
            && self.pipeline == other.pipeline;
        // What is fetched depends on what the links are.
        let fetched = self.input.fetch().is_some();
        shared && !(same && (!fetched || self.links == other.links))
    }
}

fn content_encoding(item: &Item<'_, '_>) -> Option<ContentEncoding> {
    match item.text()? {
        "wire" => Some(ContentEncoding::Wire),
        "decoded" => Some(ContentEncoding::Decoded),
        _ => {
            item.error(
                "which bytes are signed: \"wire\", as they are sent, or \"decoded\", what they \
                 decompress to",
            );
            None
        }
    }
}

/// Notes secrets that can't be derived.
fn check_derivation(item: &Item<'_, '_>, scheme: &Scheme, secrets: &Secrets) {
    let derivable = match scheme {
        Scheme::Signed(signed) => signed.algorithm != Algorithm::Ed25519,
        Scheme::Token(_) => true,
        Scheme::Basic => false,
    };
    if !derivable && matches!(secrets, Secrets::DerivedFrom(_)) {
        item.error("no secret can be derived under this scheme: name a variable for each");
    }
}

/// Notes a URL that needs the route's tenant where there is none.
fn check_url(item: &Item<'_, '_>, scheme: &Scheme, tenant: &TenantForm) {
    let Scheme::Signed(signed) = scheme else {
        return;
    };
    let url = signed.url.as_deref().unwrap_or_default();
    if url.contains("{tenant}") && tenant != &TenantForm::Route {
        item.error("`{tenant}` in the URL needs tenant = { route = true }");
    }
}

fn mapping(
    mut table: Section<'_, '_>,
    default_namespace: Option<Namespace>,
) -> Option<(Option<Pointer>, Mapping)> {
    let tenant = table.require("tenant").and_then(|item| tenant_form(&item));
    let namespace = table.get("namespace").map_or(default_namespace, |item| {
        item.parse(|text| Namespace::new(text))
    });
    let report_id = table
        .require("report_id")
        .and_then(|item| item.parse(|t| Pointer::new(t)));
    let version = table
        .require("version")
        .and_then(|item| version_form(&item));
    let order = match table.get("order") {
        None => Some(None),
        Some(item) => item.parse(|text| Pointer::new(text)).map(Some),
    };
    table.finish();
    let mapping = Mapping {
        tenant: tenant?,
        namespace: namespace?,
        report_id: report_id?,
        version: version?,
    };
    Some((order?, mapping))
}

fn tenant_form(item: &Item<'_, '_>) -> Option<TenantForm> {
    let mut table = item.table()?;
    let value = table
        .get("value")
        .map(|item| item.parse(|text| Tenant::new(text)));
    let pointer = table
        .get("pointer")
        .map(|item| item.parse(|text| Pointer::new(text)));
    let route = table.get("route").map(|item| item.bool());
    table.finish();
    match (value, pointer, route) {
        (Some(value), None, None) => value.map(TenantForm::Value),
        (None, Some(pointer), None) => pointer.map(TenantForm::Pointer),
        (None, None, Some(Some(true))) => Some(TenantForm::Route),
        _ => {
            item.error("exactly one of { value = … }, { pointer = … } and { route = true }");
            None
        }
    }
}

fn version_form(item: &Item<'_, '_>) -> Option<VersionForm> {
    if item.as_text() == Some("event") {
        return Some(VersionForm::Event);
    }
    let mut table = match item.as_table() {
        Some(table) => table,
        None => {
            item.error("one of { revision = … }, { content = […] } and \"event\"");
            return None;
        }
    };
    let revision = table
        .get("revision")
        .map(|item| item.parse(|text| Pointer::new(text)));
    let content = table.get("content").map(|item| {
        let items = item.array()?;
        if items.is_empty() {
            item.error("a content version needs at least one pointer");
        }
        items
            .iter()
            .map(|item| item.parse(|text| Pointer::new(text)))
            .collect::<Option<Vec<_>>>()
    });
    table.finish();
    match (revision, content) {
        (Some(revision), None) => revision.map(VersionForm::Revision),
        (None, Some(content)) => content.map(VersionForm::Content),
        (None, None) | (Some(_), Some(_)) => {
            item.error("one of { revision = … }, { content = […] } and \"event\"");
            None
        }
    }
}

fn senders(table: &mut Section<'_, '_>, tenant: Option<&TenantForm>) -> Option<Senders> {
    let sender = table.get("sender");
    let tenants = table.get("tenants");
    if let Some(item) = &sender
        && item.text()? != "trusted"
    {
        item.error("the only value is \"trusted\"; else list the `tenants` it may name");
    }
    if let (Some(item), Some(_)) = (&sender, &tenants) {
        item.error("either sender = \"trusted\" or `tenants`, not both");
    }
    if let Some(item) = &tenants {
        let items = item.array()?;
        let tenants = items
            .iter()
            .map(|item| item.parse(|text| Tenant::new(text)));
        return tenants.collect::<Option<_>>().map(Senders::Tenants);
    }
    let named_by_payload = matches!(tenant, Some(TenantForm::Pointer(_)));
    if named_by_payload && sender.is_none() {
        table.error(
            "the payload names the tenant: say sender = \"trusted\", or list the `tenants` that \
             the sender may name",
        );
    }
    Some(Senders::Any)
}

fn filters(item: &Item<'_, '_>) -> Option<Vec<Filter>> {
    let entries = item.table()?;
    let filters = entries.entries().map(|(pointer, item)| {
        let pointer = Pointer::new(pointer)
            .map_err(|error| item.error(error.to_string()))
            .ok()?;
        let values = item.array()?;
        if values.is_empty() {
            item.error("no delivery would ever match an empty list");
        }
        let allowed = values.iter().map(scalar).collect::<Option<_>>()?;
        Some(Filter { pointer, allowed })
    });
    // All are read before the first bad one ends it, so that every mistake is told.
    let filters: Vec<Option<Filter>> = filters.collect();
    filters.into_iter().collect()
}

/// The canonical JSON of a value to compare with.
fn scalar(item: &Item<'_, '_>) -> Option<String> {
    let value = match item.as_text() {
        Some(text) => {
            let mut json = String::new();
            crate::canonical::write_str(text, &mut json);
            Some(json)
        }
        None => item.as_scalar(),
    };
    if value.is_none() {
        item.error("this must be a string, a decimal integer, true or false");
    }
    value
}
