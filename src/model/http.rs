//! One POST whose answer is a stream, with the time limits, proxies and certificates of all services.
//!
//! Nothing is tried twice here: whoever asked sees each failure.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use reqwest::{Client, Response, Url};
use tokio::sync::OnceCell;

use super::catalogue::is_this_machine;
use super::{ModelError, Secret};
use crate::event::ErrorCode;

mod proxy;

/// Names a file with further certificate authorities (PEM) to trust.
const CA_FILE: &str = "QUIPU_CA_FILE";
/// An error's body is read up to this many bytes and for this long.
const ERROR_BODY: usize = 64 * 1024;
const ERROR_BODY_TIME: Duration = Duration::from_secs(10);

/// How long a service may keep us waiting; `None` is for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the request to the headers of the answer, connecting included.
    pub start: Option<Duration>,
    /// Between two pieces of the answer.
    pub idle: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Some(Duration::from_secs(90)),
            idle: Some(Duration::from_mins(5)),
        }
    }
}

impl Timeouts {
    /// From milliseconds, of which 0 is none.
    #[must_use]
    pub fn from_millis(start: u64, idle: u64) -> Self {
        let limit = |ms| (ms > 0).then(|| Duration::from_millis(ms));
        Self {
            start: limit(start),
            idle: limit(idle),
        }
    }
}

/// The headers were too long in coming.
pub(crate) fn start_timeout(limit: Duration) -> ModelError {
    ModelError::timeout(format!(
        "The model service did not begin to answer within {} ms (start timeout).",
        limit.as_millis()
    ))
}

/// The next piece was too long in coming.
pub(crate) fn idle_timeout(limit: Duration) -> ModelError {
    ModelError::timeout(format!(
        "The model service was silent for {} ms in the middle of its answer (idle timeout).",
        limit.as_millis()
    ))
}

/// One endpoint of a service.
#[derive(Debug)]
pub(crate) struct Endpoint {
    url: Url,
    /// Host and port, for messages.
    host: String,
    headers: HeaderMap,
    secrets: Vec<Secret>,
    timeouts: Timeouts,
    client: OnceCell<Client>,
}

/// Parses the base URL of a service.
pub(crate) fn base_url(text: &str) -> Result<Url, ModelError> {
    let error = |why: &str| {
        ModelError::new(
            ErrorCode::Configuration,
            format!(
                "The base URL \"{}\" of the model service {why}. Expected something like \
                 https://api.example.com.",
                without_userinfo(text)
            ),
        )
    };
    let url = Url::parse(text.trim()).map_err(|reason| error(&format!("is no URL ({reason})")))?;
    match url.scheme() {
        "http" | "https" if url.host_str().is_some_and(|host| !host.is_empty()) => Ok(url),
        "http" | "https" => Err(error("names no host")),
        _ => Err(error("does not begin with http:// or https://")),
    }
}

/// What a URL holds that may be secret: the password, also as it is sent, and what the query says.
fn in_url(url: &Url) -> Vec<Secret> {
    let query = url.query_pairs().map(|(_, value)| value.into_owned());
    let mut secrets: Vec<String> = query.collect();
    if let Some(password) = url.password() {
        let login = format!("{}:{password}", url.username());
        secrets.extend([BASE64_STANDARD.encode(login), password.to_owned()]);
    }
    secrets.push(url.username().to_owned());
    secrets.into_iter().map(Secret::new).collect()
}

/// A URL may carry a password or a key; they are not for messages.
fn without_userinfo(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    match (text.find("//"), text.find('@')) {
        (Some(start), Some(at)) if start + 2 < at => {
            format!("{}…{}", &text[..start + 2], &text[at..])
        }
        _ => text.to_owned(),
    }
}

impl Endpoint {
    /// Checks the headers; `own` are the configured ones, which replace others of their name.
    pub(crate) fn new(
        url: Url,
        protocol: &[(&'static str, &str)],
        key: Option<(&'static str, String)>,
        own: &[(String, String)],
        timeouts: Timeouts,
    ) -> Result<Self, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let agent = concat!("quipu/", env!("CARGO_PKG_VERSION"));
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
        let unusable = |code, name: &str| {
            ModelError::new(
                code,
                format!(
                    "The request header \"{name}\" has a name or value that HTTP cannot carry."
                ),
            )
        };
        for (name, value) in protocol {
            let value = HeaderValue::from_str(value)
                .map_err(|_| unusable(ErrorCode::Configuration, name))?;
            headers.insert(HeaderName::from_static(name), value);
        }
        let mut secrets: Vec<Secret> = own.iter().map(|(_, value)| Secret::new(value)).collect();
        secrets.extend(in_url(&url));
        if let Some((name, value)) = key {
            let mut header = HeaderValue::from_str(&value).map_err(|_| {
                ModelError::new(
                    ErrorCode::Credentials,
                    "The API key holds characters that no HTTP header can carry, such as a line \
                     break.",
                )
            })?;
            header.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), header);
            let bare = value.strip_prefix("Bearer ").unwrap_or(&value);
            secrets.push(Secret::new(bare));
        }
        for (name, value) in own {
            let error = || unusable(ErrorCode::Configuration, name);
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| error())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| error())?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        let host = url.host_str().unwrap_or_default();
        let host = url
            .port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        Ok(Self {
            url,
            host,
            headers,
            secrets,
            timeouts,
            client: OnceCell::new(),
        })
    }

    /// Values that may not turn up in a message.
    pub(crate) fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// Sends the body (JSON) and waits until the service begins to answer with a stream.
    pub(crate) async fn post(&self, body: Bytes) -> Result<Body, ModelError> {
        let answer = match self.timeouts.start {
            Some(limit) => tokio::time::timeout(limit, self.ask(body))
                .await
                .unwrap_or_else(|_| Err(start_timeout(limit))),
            None => self.ask(body).await,
        };
        match answer {
            Ok(response) if !response.status().is_success() => Err(self.refused(response).await),
            Ok(response) => match unfit_type(&response) {
                None => Ok(Body {
                    response,
                    host: self.host.clone(),
                    idle: self.timeouts.idle,
                }),
                Some(unfit) => Err(ModelError {
                    status: Some(response.status().as_u16()),
                    ..ModelError::network(format!(
                        "The model service at {} answered with {unfit} instead of an event stream.",
                        self.host
                    ))
                }),
            },
            Err(error) => Err(error),
        }
        // The whole message: what is cut off is looked at, too.
        .map_err(|error| error.without_secrets(&self.secrets))
    }

    async fn ask(&self, body: Bytes) -> Result<Response, ModelError> {
        let client = self.client.get_or_try_init(|| self.build()).await?;
        let request = client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .body(body);
        request
            .send()
            .await
            .map_err(|error| self.unreachable(&error))
    }

    /// Building a client reads the system's certificates, hence late and off the runtime's thread.
    async fn build(&self) -> Result<Client, ModelError> {
        let url = self.url.clone();
        let built = tokio::task::spawn_blocking(move || client(&url)).await;
        built.unwrap_or_else(|error| {
            Err(ModelError::new(
                ErrorCode::Internal,
                format!("The HTTP client failed: {error}."),
            ))
        })
    }

    fn unreachable(&self, error: &reqwest::Error) -> ModelError {
        let reason = root_cause(error);
        let proxy = proxy(&self.url).ok().flatten();
        if reason.contains("certificate") {
            return ModelError::new(
                ErrorCode::Network,
                format!(
                    "No safe connection to {}: {reason}. If the certificate is one of your own \
                     network, name its authority's PEM file in {CA_FILE}.",
                    self.host
                ),
            );
        }
        let host = &self.host;
        ModelError::network(match (proxy, error.is_connect()) {
            (Some(proxy), true) => match reason.strip_prefix("tunnel error: ") {
                // The answer was not 200; what it was the client does not tell.
                Some("unsuccessful") => {
                    format!("Could not connect to {host}: {proxy} refused to.")
                }
                Some(reason) => format!("Could not connect to {host}: {proxy} says {reason}."),
                None => format!("Could not connect to {host} through {proxy}: {reason}."),
            },
            (None, true) => format!("Could not connect to {host}: {reason}."),
            (Some(proxy), false) => {
                format!("The request to {host} through {proxy} failed: {reason}.")
            }
            (None, false) => format!("The request to {host} failed: {reason}."),
        })
    }

    async fn refused(&self, mut response: Response) -> ModelError {
        let status = response.status().as_u16();
        let headers = std::mem::take(response.headers_mut());
        let mut body = Vec::new();
        let read = async {
            while let Ok(Some(chunk)) = response.chunk().await {
                body.extend_from_slice(&chunk);
                if body.len() >= ERROR_BODY {
                    break;
                }
            }
        };
        // A body that does not come is no reason to forget the status.
        let _ = tokio::time::timeout(ERROR_BODY_TIME, read).await;
        let header = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
        ModelError::from_response(status, &header, &body)
    }
}

/// The stream of an answer.
#[derive(Debug)]
pub(crate) struct Body {
    response: Response,
    host: String,
    idle: Option<Duration>,
}

impl Body {
    /// The next bytes; `None` at the proper end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, ModelError> {
        let next = self.response.chunk();
        let next = match self.idle {
            Some(limit) => tokio::time::timeout(limit, next)
                .await
                .map_err(|_| idle_timeout(limit))?,
            None => next.await,
        };
        next.map_err(|error| {
            ModelError::network(format!(
                "The connection to {} was lost in the middle of the answer: {}.",
                self.host,
                root_cause(&error)
            ))
        })
    }
}

/// The proxy for a URL, if any; none reaches the loopback interface of this machine.
fn proxy(url: &Url) -> Result<Option<proxy::Proxy>, ModelError> {
    if is_this_machine(url.as_str()) {
        return Ok(None);
    }
    // What is no Unicode is no proxy either, and told as such.
    let variable = |name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned());
    proxy::of(url, &variable)
}

/// A client for this URL.
pub(crate) fn client(url: &Url) -> Result<Client, ModelError> {
    proxy(url)?;
    // Fails only when one is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        // A redirect would carry the key and the conversation to wherever it points.
        .redirect(reqwest::redirect::Policy::none())
        .tcp_keepalive(Duration::from_secs(30));
    if is_this_machine(url.as_str()) {
        builder = builder.no_proxy();
    }
    let ca_file = std::env::var_os(CA_FILE).filter(|path| !path.is_empty());
    if let Some(path) = &ca_file {
        let error = |why: String| {
            ModelError::new(
                ErrorCode::Configuration,
                format!("The file {} named by {CA_FILE} {why}.", path.display()),
            )
        };
        let pem = std::fs::read(path).map_err(|io| error(format!("cannot be read: {io}")))?;
        let certificates = reqwest::Certificate::from_pem_bundle(&pem)
            .map_err(|_| error("holds no PEM certificates".to_owned()))?;
        if certificates.is_empty() {
            return Err(error("holds no PEM certificates".to_owned()));
        }
        builder = builder.tls_certs_merge(certificates);
    }
    builder.build().map_err(|error| {
        let reason = root_cause(&error);
        let and_file = ca_file.map_or_else(String::new, |path| {
            format!(" and of the file {} named by {CA_FILE}", path.display())
        });
        ModelError::new(
            ErrorCode::Configuration,
            format!("No HTTP client with the certificates of this system{and_file}: {reason}."),
        )
    })
}

/// What the type of the body is if it cannot be an event stream. Servers that name no type or a
/// vague one are given the benefit of the doubt.
fn unfit_type(response: &Response) -> Option<String> {
    if response.status() == reqwest::StatusCode::NO_CONTENT {
        return Some("nothing".to_owned());
    }
    let kind = response
        .headers()
        .get(CONTENT_TYPE)?
        .to_str()
        .unwrap_or("an unreadable type");
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let fit = matches!(
        kind.as_str(),
        "" | "text/event-stream" | "text/plain" | "application/octet-stream"
    );
    (!fit).then_some(kind)
}

/// The innermost reason, which is the one that says something, without URLs.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    match cause.downcast_ref::<reqwest::Error>() {
        // Its own text names the URL.
        Some(_) if error.is_timeout() => "timed out".to_owned(),
        Some(_) => "the request could not be sent".to_owned(),
        None => cause.to_string(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
