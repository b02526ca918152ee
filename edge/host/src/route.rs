//! Which requests belong to the component.

use thiserror::Error;

/// The path pattern of an HTTP trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    written: String,
    prefix: String,
    reach: Reach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Exact,
    /// `/...`: the prefix and everything below it.
    Below,
}

/// A route that this host cannot serve.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RouteError {
    /// Every route begins with a slash.
    #[error("the route {0:?} does not begin with `/`")]
    NoSlash(String),
    /// Spin has `:name` segments, the project does not use them.
    #[error("the route {0:?} has a named or inner wildcard, which only Spin itself knows")]
    Wildcard(String),
}

/// How a path met a route.
#[derive(Debug, PartialEq, Eq)]
pub struct Match<'p> {
    /// What `...` stands for: empty, or a path with its leading slash.
    pub path_info: &'p str,
}

impl Route {
    /// Reads a route as `spin.toml` writes it: `/hooks` or `/hooks/...`.
    pub fn parse(written: &str) -> Result<Self, RouteError> {
        if !written.starts_with('/') {
            return Err(RouteError::NoSlash(written.to_owned()));
        }
        let (prefix, reach) = match written.strip_suffix("/...") {
            Some(prefix) => (prefix, Reach::Below),
            None => (written.trim_end_matches('/'), Reach::Exact),
        };
        if prefix
            .split('/')
            .any(|segment| segment.starts_with(':') || segment.starts_with('*'))
            || prefix.contains("...")
        {
            return Err(RouteError::Wildcard(written.to_owned()));
        }
        Ok(Self {
            written: written.to_owned(),
            prefix: prefix.to_owned(),
            reach,
        })
    }

    /// As the manifest has it.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The route without its wildcard.
    #[must_use]
    pub fn prefix(&self) -> &str {
        match self.reach {
            Reach::Exact => &self.written,
            Reach::Below => &self.prefix,
        }
    }

    /// Whether `path` (without a query) belongs to this route. A trailing slash is no difference.
    #[must_use]
    pub fn matches<'p>(&self, path: &'p str) -> Option<Match<'p>> {
        let rest = path.strip_prefix(self.prefix.as_str())?;
        match self.reach {
            Reach::Exact => rest
                .trim_end_matches('/')
                .is_empty()
                .then_some(Match { path_info: "" }),
            Reach::Below => {
                (rest.is_empty() || rest.starts_with('/')).then_some(Match { path_info: rest })
            }
        }
    }
}

/// The most specific of the routes that match: an exact one, else the longest.
#[must_use]
pub fn best<'r, 'p>(routes: &'r [Route], path: &'p str) -> Option<(&'r Route, Match<'p>)> {
    routes
        .iter()
        .filter_map(|route| route.matches(path).map(|found| (route, found)))
        .max_by_key(|(route, _)| (route.reach == Reach::Exact, route.prefix.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_info<'p>(route: &str, path: &'p str) -> Option<&'p str> {
        Route::parse(route)
            .unwrap()
            .matches(path)
            .map(|found| found.path_info)
    }

    #[test]
    fn a_wildcard_takes_the_prefix_and_all_below() {
        assert_eq!(
            path_info("/hooks/...", "/hooks/github/acme"),
            Some("/github/acme")
        );
        assert_eq!(path_info("/hooks/...", "/hooks/github/"), Some("/github/"));
        assert_eq!(path_info("/hooks/...", "/hooks/"), Some("/"));
        assert_eq!(path_info("/hooks/...", "/hooks"), Some(""));
        assert_eq!(path_info("/hooks/...", "/hooksmith"), None);
        assert_eq!(path_info("/hooks/...", "/"), None);
        assert_eq!(
            path_info("/...", "/anything/at/all"),
            Some("/anything/at/all")
        );
    }

    #[test]
    fn an_exact_route_takes_its_path_alone() {
        assert_eq!(path_info("/health", "/health"), Some(""));
        assert_eq!(path_info("/health", "/health/"), Some(""));
        assert_eq!(path_info("/health", "/health/x"), None);
        assert_eq!(path_info("/", "/"), Some(""));
        assert_eq!(path_info("/", "/x"), None);
    }

    #[test]
    fn the_most_specific_route_wins() {
        let routes: Vec<Route> = ["/...", "/a/...", "/a/b"]
            .into_iter()
            .map(|route| Route::parse(route).unwrap())
            .collect();
        let written = |path| best(&routes, path).map(|(route, _)| route.written());
        assert_eq!(written("/a/b"), Some("/a/b"));
        assert_eq!(written("/a/c"), Some("/a/..."));
        assert_eq!(written("/c"), Some("/..."));
    }

    #[test]
    fn what_only_spin_knows_is_refused() {
        for route in ["/users/:id", "/users/*", "/a/.../b"] {
            assert_eq!(
                Route::parse(route),
                Err(RouteError::Wildcard(route.to_owned()))
            );
        }
        assert_eq!(
            Route::parse("hooks"),
            Err(RouteError::NoSlash("hooks".to_owned()))
        );
    }
}
