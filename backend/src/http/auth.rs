//! Who may read and decide: whoever presents the administrator's token.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::problem::Problem;
use crate::secret::Secret;

/// Who acts, by the name of the token that was presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Actor(&'static str);

impl Actor {
    /// The first token's name; there is no other token yet.
    const ADMIN: Self = Self("admin");

    /// The name, for what is recorded.
    pub(super) fn name(self) -> &'static str {
        self.0
    }
}

/// Lets a request pass that presents the token, and answers any other with 401, whatever it asks
/// for: who has no token does not learn which paths exist.
pub(super) async fn require_token(
    State(token): State<Arc<Secret>>,
    mut request: Request,
    next: Next,
) -> Response {
    match presented(request.headers()) {
        Some(presented) if token.matches(presented) => {
            request.extensions_mut().insert(Actor::ADMIN);
            next.run(request).await
        }
        Some(_) | None => Problem::Unauthorized.into_response(),
    }
}

/// The token of exactly one `Authorization: Bearer` header.
fn presented(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.as_bytes();
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_at_checked(b"Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
}
