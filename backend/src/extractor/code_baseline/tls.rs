//! Certificates that are not looked at.

use regex::Regex;

use super::{
    finding::{Hit, Rule, Severity},
    place::Language,
    spot::Spot,
};

const SUMMARY: &str = "The other end's certificate is not verified: whoever is on the way can \
                       read and change what is sent.";

/// A pattern, and where it is looked for; everywhere if that is empty.
type Pattern = (&'static [Language], &'static str);

/// Also said of signatures.
const VERIFY: &str = r"\bverify\s*=\s*False\b";

const PATTERNS: &[Pattern] = &[
    (&[Language::Python], r"\bverify_(?:ssl|certs)\s*=\s*False\b"),
    (&[Language::Python], r"\b_create_unverified_context\b"),
    (&[Language::Python], r"\bcheck_hostname\s*=\s*False\b"),
    (
        &[Language::Python],
        r"\bverify_mode\s*=\s*(?:ssl\.)?CERT_NONE\b",
    ),
    (
        &[Language::Python],
        r#"\bcert_reqs\s*=\s*["']?(?:ssl\.)?CERT_NONE\b"#,
    ),
    (&[Language::Go], r"\bInsecureSkipVerify\s*[:=]\s*true\b"),
    (
        &[Language::JavaScript, Language::Settings],
        r#"\brejectUnauthorized["']?\s*[:=]\s*false\b"#,
    ),
    (
        &[],
        r#"\bNODE_TLS_REJECT_UNAUTHORIZED["'\]]*\s*[:=]\s*["']?0"#,
    ),
    (
        &[Language::Rust],
        r"\bdanger_accept_invalid_(?:certs|hostnames)\(\s*true\s*\)",
    ),
    (
        &[Language::Rust],
        r"\bset_verify\(\s*SslVerifyMode::NONE\s*\)",
    ),
    (
        &[Language::Java],
        r"\b(?:NoopHostnameVerifier|ALLOW_ALL_HOSTNAME_VERIFIER|AllowAllHostnameVerifier)\b",
    ),
    (
        &[Language::Java],
        r"\bcheckServerTrusted\([^)]*\)\s*(?:throws [\w., ]+)?\{\s*\}",
    ),
    (
        &[Language::Java],
        r"(?i)\bhostnameVerifier\(?\s*[({]\s*\w+\s*,\s*\w+\s*\)?\s*->\s*true\b",
    ),
    (
        &[Language::CSharp],
        r"\bServerCertificate(?:Custom)?ValidationCallback\s*\+?=.*(?:=>\s*true|return\s+true)\b",
    ),
    (
        &[Language::CSharp],
        r"\bDangerousAcceptAnyServerCertificateValidator\b",
    ),
    (&[Language::Ruby], r"\bOpenSSL::SSL::VERIFY_NONE\b"),
    (
        &[Language::Php],
        r"\bCURLOPT_SSL_VERIFY(?:PEER|HOST)\s*(?:,|=>)\s*(?:false|FALSE|0)\b",
    ),
    (
        &[Language::Php],
        r#"["']verify_peer(?:_name)?["']\s*=>\s*(?:false|FALSE|0)\b"#,
    ),
    (
        &[Language::Shell, Language::Settings],
        r"\bcurl\s(?:[^|;&#]*\s)?(?:-[A-Za-z]*k|--insecure)(?:\s|$)",
    ),
    (
        &[Language::Shell, Language::Settings],
        r"\bwget\s[^|;&#]*--no-check-certificate\b",
    ),
    (
        &[],
        r#"\bGIT_SSL_NO_VERIFY["'\]]*\s*[:=]\s*["']?(?:1|true)\b"#,
    ),
    (
        &[Language::Shell, Language::Settings],
        r#"\bhttp\.sslVerify["']?[\s=]+["']?false\b"#,
    ),
    (
        &[Language::Shell, Language::Settings],
        r"\bstrict-ssl[\s=]+false\b",
    ),
];

/// A signature of another kind is not verified there.
const OTHER_SIGNATURE: &str = r"(?i)\b(?:jwt|jws)\b|\bdecode\(";

#[derive(Debug)]
pub(super) struct Tls {
    patterns: Vec<(&'static [Language], Regex)>,
    verify: Regex,
    other_signature: Regex,
}

pub(super) fn patterns() -> Vec<&'static str> {
    let patterns = PATTERNS.iter().map(|(_, pattern)| *pattern);
    patterns.chain([VERIFY, OTHER_SIGNATURE]).collect()
}

impl Tls {
    pub(super) fn new() -> Result<Self, regex::Error> {
        let compile = |(languages, pattern): &Pattern| Ok((*languages, Regex::new(pattern)?));
        Ok(Self {
            patterns: PATTERNS.iter().map(compile).collect::<Result<_, _>>()?,
            verify: Regex::new(VERIFY)?,
            other_signature: Regex::new(OTHER_SIGNATURE)?,
        })
    }

    pub(super) fn look(&self, spot: &Spot<'_>) -> Option<Hit> {
        if !spot.is_code() {
            return None;
        }
        let matches = |(languages, pattern): &(&[Language], Regex)| {
            let here = languages.is_empty() || languages.contains(&spot.language);
            here && pattern.is_match(spot.line)
        };
        let verify = spot.language == Language::Python
            && self.verify.is_match(spot.line)
            && !self.other_signature.is_match(spot.line);
        (verify || self.patterns.iter().any(matches)).then_some(Hit {
            rule: Rule::Tls,
            severity: Severity::High,
            summary: SUMMARY,
        })
    }
}
