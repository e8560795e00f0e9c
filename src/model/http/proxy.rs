//! The proxy that a request goes through.

use std::fmt;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;

use super::ModelError;
use crate::event::ErrorCode;

/// A proxy, for messages.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Proxy {
    /// The variable that names it.
    variable: &'static str,
    /// Host and port.
    address: String,
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy {} ({})", self.address, self.variable)
    }
}

/// The proxy of the environment for `url`, by the rules of the HTTP client.
///
/// # Errors
/// When the variable that decides names none that can be used: the client would silently go without.
pub(super) fn of(
    url: &Url,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Proxy>, ModelError> {
    // In a CGI script a header of the client sets HTTP_PROXY, so all of them are left aside.
    if variable("REQUEST_METHOD").is_some() {
        return Ok(None);
    }
    let first = |names: [&'static str; 2]| {
        let found = names
            .into_iter()
            .find_map(|name| Some((name, variable(name)?)));
        found.filter(|(_, value)| !value.is_empty())
    };
    let own = match url.scheme() {
        "https" => ["HTTPS_PROXY", "https_proxy"],
        _ => ["HTTP_PROXY", "http_proxy"],
    };
    let Some((name, value)) = first(own).or_else(|| first(["ALL_PROXY", "all_proxy"])) else {
        return Ok(None);
    };
    let Ok(target) = url.as_str().parse() else {
        return Ok(None);
    };
    let through = |except: String| {
        let proxies = Matcher::builder().all(value.as_str()).no(except).build();
        proxies.intercept(&target)
    };
    let usable = through(String::new()).filter(|proxy| {
        let is_http = proxy
            .uri()
            .scheme_str()
            .is_some_and(|s| s.starts_with("http"));
        let Some(place) = proxy.uri().authority() else {
            return false;
        };
        let (host, port) = (place.host(), place.port_u16());
        is_http && !host.is_empty() && (port.is_some() || host == place.as_str())
    });
    if usable.is_none() {
        return Err(ModelError::new(
            ErrorCode::Configuration,
            format!(
                "{name} names no proxy that can be used. Expected something like \
                 http://proxy.example.com:3128; unset it to go without."
            ),
        ));
    }
    let except = first(["NO_PROXY", "no_proxy"]).map_or_else(String::new, |(_, value)| value);
    Ok(through(except).map(|proxy| Proxy {
        variable: name,
        address: proxy
            .uri()
            .authority()
            .map_or_else(String::new, ToString::to_string),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, variables: &[(&str, &str)]) -> Result<Option<String>, ModelError> {
        let variable = |wanted: &str| {
            let (_, value) = variables.iter().find(|(name, _)| *name == wanted)?;
            Some((*value).to_owned())
        };
        let found = super::of(&Url::parse(url).unwrap(), &variable)?;
        Ok(found.map(|proxy| proxy.to_string()))
    }

    const SAFE: &str = "https://api.example.com/v1";

    #[test]
    fn the_variable_that_decides_names_it() {
        let through = |text: &str| Ok(Some(format!("the proxy {text}")));
        for (url, variables, proxy) in [
            (SAFE, &[][..], Ok(None)),
            (SAFE, &[("HTTPS_PROXY", "")], Ok(None)),
            (
                SAFE,
                &[("HTTPS_PROXY", "http://user:pass@one:3128")],
                through("one:3128 (HTTPS_PROXY)"),
            ),
            (
                SAFE,
                &[("https_proxy", "one:3128")],
                through("one:3128 (https_proxy)"),
            ),
            (
                SAFE,
                &[("HTTP_PROXY", "http://one"), ("ALL_PROXY", "https://two/")],
                through("two (ALL_PROXY)"),
            ),
            (
                "http://plain",
                &[("HTTP_PROXY", "http://one")],
                through("one (HTTP_PROXY)"),
            ),
            ("http://plain", &[("HTTPS_PROXY", "no proxy")], Ok(None)),
            (
                SAFE,
                &[("HTTPS_PROXY", "http://one"), ("NO_PROXY", "example.com")],
                Ok(None),
            ),
            (
                SAFE,
                &[("HTTPS_PROXY", "no proxy"), ("REQUEST_METHOD", "GET")],
                Ok(None),
            ),
        ] {
            assert_eq!(of(url, variables), proxy, "{url} {variables:?}");
        }
    }

    #[test]
    fn one_that_cannot_be_used_is_refused() {
        for value in [
            "ht!tp://u:canary@@:x",
            "http://host:port",
            "http://host:99999",
            "http://:3128",
            "http://with blank:80",
            "http://host ",
            "://host",
            "ftp://host",
            "socks5://host:1080",
            "/path",
            "http://",
        ] {
            for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
                let error = of(SAFE, &[(name, value)]).unwrap_err();
                assert_eq!(error.code, ErrorCode::Configuration);
                assert!(error.message.starts_with(&format!("{name} names no proxy")));
                assert!(!error.message.contains("canary"), "{}", error.message);
            }
        }
    }
}
