//! Over a real loopback connection.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

/// What the server does with its one connection, after it has read the request.
pub(crate) enum Act {
    Send(Vec<u8>),
    Wait(Duration),
    /// A TCP reset instead of a proper end.
    Reset,
}

pub(crate) fn send(text: &str) -> Act {
    Act::Send(text.as_bytes().to_vec())
}

/// Serves one request on a port of its own; gives its URL and, later, the request.
pub(crate) async fn serve(acts: Vec<Act>) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !is_whole(&request) {
            if socket.read_buf(&mut request).await.unwrap() == 0 {
                break;
            }
        }
        for act in acts {
            match act {
                // The client may have had enough.
                Act::Send(bytes) => drop(socket.write_all(&bytes).await),
                Act::Wait(time) => tokio::time::sleep(time).await,
                Act::Reset => socket.set_zero_linger().unwrap(),
            }
            tokio::task::yield_now().await;
        }
        String::from_utf8(request).unwrap()
    });
    (url, served)
}

/// Serves one answer a connection; each may hold what was asked.
pub(crate) async fn serve_each(answers: impl Fn(&str) -> Vec<u8> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = Vec::new();
            while !is_whole(&request) {
                if socket.read_buf(&mut request).await.unwrap() == 0 {
                    break;
                }
            }
            let answer = answers(&String::from_utf8_lossy(&request));
            // The client may have had enough.
            drop(socket.write_all(&answer).await);
        }
    });
    url
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    length.is_none_or(|length| body.len() >= length.parse().unwrap())
}

pub(crate) const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

fn endpoint(url: &str, timeouts: Timeouts) -> Endpoint {
    let url = base_url(url).unwrap();
    let key = Some(("x-api-key", "canary-key-123".to_owned()));
    let own = [("x-own".to_owned(), "canary-header".to_owned())];
    Endpoint::new(url, &[("x-protocol", "1")], key, &own, timeouts).unwrap()
}

async fn ask(url: &str, timeouts: Timeouts) -> Result<Vec<u8>, ModelError> {
    let mut body = endpoint(url, timeouts)
        .post(Bytes::from_static(b"{\"q\":1}"))
        .await?;
    let mut bytes = Vec::new();
    while let Some(chunk) = body.chunk().await? {
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

#[tokio::test]
async fn sends_the_body_with_the_headers_and_gives_the_stream() {
    let (url, served) = serve(vec![send(STREAM), send("data: a\n\n"), send("data: b\n\n")]).await;
    assert_eq!(
        ask(&url, Timeouts::default()).await.unwrap(),
        b"data: a\n\ndata: b\n\n"
    );
    let request = served.await.unwrap();
    for part in [
        "POST / HTTP/1.1\r\n",
        "x-api-key: canary-key-123\r\n",
        "x-own: canary-header\r\n",
        "x-protocol: 1\r\n",
        "content-type: application/json\r\n",
        "accept: text/event-stream\r\n",
        "\r\n\r\n{\"q\":1}",
    ] {
        assert!(request.contains(part), "{part:?} is not in {request}");
    }
}

#[tokio::test]
async fn reads_a_compressed_stream() {
    // `data: a\n\n`, gzip with stored blocks.
    let gzip = [
        &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 9, 0, 0xf6, 0xff][..],
        b"data: a\n\n",
        &[0x7e, 0xe3, 0xc4, 0x38, 9, 0, 0, 0],
    ]
    .concat();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n\
                connection: close\r\n\r\n";
    let (url, _served) = serve(vec![send(head), Act::Send(gzip)]).await;
    assert_eq!(
        ask(&url, Timeouts::default()).await.unwrap(),
        b"data: a\n\n"
    );
}

#[tokio::test]
async fn a_refusal_is_classified_with_its_hint_and_without_the_key() {
    let body = r#"{"error":{"type":"rate_limit_error","message":"canary-key-123 canary-header"}}"#;
    let head = format!(
        "HTTP/1.1 429 Too Many\r\nretry-after-ms: 20\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let (url, _served) = serve(vec![send(&head), send(body)]).await;
    let error = ask(&url, Timeouts::default()).await.unwrap_err();
    assert_eq!(
        (error.code, error.status),
        (ErrorCode::RateLimited, Some(429))
    );
    assert_eq!(error.retry_after, Some(Duration::from_millis(20)));
    assert_eq!(error.message, "429 rate_limit_error: <redacted> <redacted>");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let head = "HTTP/1.1 307 Away\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n";
    let (url, _served) = serve(vec![send(head)]).await;
    let error = ask(&url, Timeouts::default()).await.unwrap_err();
    assert_eq!(
        (error.code, error.status),
        (ErrorCode::InvalidRequest, Some(307))
    );
}

#[tokio::test]
async fn a_document_instead_of_a_stream_is_worth_another_try() {
    for kind in ["text/html; charset=utf-8", "application/json"] {
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: 2\r\n\r\n{{}}");
        let (url, _served) = serve(vec![send(&head)]).await;
        let error = ask(&url, Timeouts::default()).await.unwrap_err();
        assert_eq!((error.code, error.retryable), (ErrorCode::Network, true));
        assert!(
            error.message.contains(kind.split(';').next().unwrap()),
            "{}",
            error.message
        );
    }
    let (url, _served) = serve(vec![send("HTTP/1.1 204 No Content\r\n\r\n")]).await;
    assert_eq!(
        ask(&url, Timeouts::default()).await.unwrap_err().code,
        ErrorCode::Network
    );
}

#[tokio::test]
async fn silence_runs_into_the_limits() {
    let long = Duration::from_mins(10);
    let (url, _served) = serve(vec![Act::Wait(long)]).await;
    let error = ask(&url, Timeouts::from_millis(50, 0)).await.unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::Timeout, true));
    assert!(error.message.contains("start"), "{}", error.message);

    let (url, _served) = serve(vec![send(STREAM), send("data: a\n\n"), Act::Wait(long)]).await;
    let error = ask(&url, Timeouts::from_millis(0, 50)).await.unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::Timeout, true));
    assert!(error.message.contains("idle"), "{}", error.message);

    // Without limits the same silence, only shorter, is waited for.
    assert_eq!(
        Timeouts::from_millis(0, 0),
        Timeouts {
            start: None,
            idle: None
        }
    );
    let short = Duration::from_millis(80);
    let acts = vec![
        Act::Wait(short),
        send(STREAM),
        Act::Wait(short),
        send("data: a\n\n"),
    ];
    let (url, _served) = serve(acts).await;
    assert_eq!(
        ask(&url, Timeouts::from_millis(0, 0)).await.unwrap(),
        b"data: a\n\n"
    );
}

#[tokio::test]
async fn a_lost_connection_is_worth_another_try() {
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let error = ask(&closed, Timeouts::default()).await.unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::Network, true));
    assert!(
        error.message.starts_with("Could not connect to 127.0.0.1:"),
        "{}",
        error.message
    );

    let (url, _served) = serve(Vec::new()).await;
    assert_eq!(
        ask(&url, Timeouts::default()).await.unwrap_err().code,
        ErrorCode::Network
    );

    let chunked = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                   transfer-encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\n";
    for end in [Act::Wait(Duration::ZERO), Act::Reset] {
        let (url, _served) = serve(vec![send(chunked), end]).await;
        let error = ask(&url, Timeouts::default()).await.unwrap_err();
        assert_eq!((error.code, error.retryable), (ErrorCode::Network, true));
        assert!(!error.message.contains("http://"), "{}", error.message);
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !is_whole(&request) {
            socket.read_buf(&mut request).await.unwrap();
        }
        socket.write_all(STREAM.as_bytes()).await.unwrap();
        socket.write_all(b"data: a\n\n").await.unwrap();
        // The end of what the client sends: it has hung up.
        socket.read_buf(&mut request).await
    });
    let mut body = endpoint(&url, Timeouts::default())
        .post(Bytes::from_static(b"{}"))
        .await
        .unwrap();
    assert!(body.chunk().await.unwrap().is_some());
    drop(body);
    assert!(matches!(served.await.unwrap(), Ok(0) | Err(_)));
}

#[test]
fn a_password_in_a_url_is_not_repeated() {
    let error = base_url("ftp://user:canary@host/").unwrap_err();
    assert!(!error.message.contains("canary"), "{}", error.message);
}
