//! A model service on a loopback socket: a thread that sends bytes of our own making.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// What the server answers to one request.
#[derive(Clone)]
pub(crate) struct Answer {
    status: &'static str,
    content_type: &'static str,
    /// Further headers, each with its line end.
    headers: &'static str,
    pub(crate) body: Vec<u8>,
    /// Bytes per write.
    piece: usize,
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    /// The body ends as it should.
    Whole,
    /// The connection is closed within the body.
    Cut,
    /// The body does not go on, and the connection stays open.
    Stall,
    /// Nothing is answered; the connection stays open.
    Silence,
}

impl Answer {
    /// A stream of these bytes.
    pub(crate) fn events(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: "200 OK",
            content_type: "text/event-stream; charset=utf-8",
            headers: "",
            body: body.into(),
            piece: usize::MAX,
            end: End::Whole,
        }
    }

    /// A document.
    pub(crate) fn plain(status: &'static str, content_type: &'static str, body: &str) -> Self {
        Self {
            status,
            content_type,
            ..Self::events(body)
        }
    }

    /// The same in pieces of so many bytes.
    pub(crate) fn in_pieces(self, piece: usize) -> Self {
        Self { piece, ..self }
    }

    /// The same with further headers, each with its line end.
    pub(crate) fn with_headers(self, headers: &'static str) -> Self {
        Self { headers, ..self }
    }

    /// The same with another end.
    pub(crate) fn ending(self, end: End) -> Self {
        Self { end, ..self }
    }
}

/// A request as the server saw it.
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// Serves these answers, one a request, and tells of the requests.
pub(crate) fn serve(answers: Vec<Answer>) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::channel();
    let answers = Arc::new(Mutex::new(answers.into_iter()));
    thread::spawn(move || {
        // A client may open a second connection before it has closed the first.
        for connection in listener.incoming() {
            let mut reader = BufReader::new(connection.unwrap());
            let (answers, sender) = (Arc::clone(&answers), sender.clone());
            thread::spawn(move || {
                while let Some(request) = receive(&mut reader) {
                    let next = answers.lock().unwrap().next();
                    let Some(answer) = next else { return };
                    if sender.send(request).is_err() || !send(reader.get_mut(), &answer) {
                        return;
                    }
                }
            });
        }
    });
    (url, requests)
}

fn receive(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = |line: &str| {
        line.to_ascii_lowercase()
            .strip_prefix("content-length:")?
            .trim()
            .parse()
            .ok()
    };
    let mut body = vec![0; head.lines().find_map(length)?];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        head,
        body: serde_json::from_slice(&body).unwrap(),
    })
}

/// Whether the connection goes on after the answer.
fn send(stream: &mut TcpStream, answer: &Answer) -> bool {
    if answer.end == End::Silence {
        return true;
    }
    stream.set_nodelay(true).unwrap();
    let head = format!(
        "HTTP/1.1 {}\r\ncontent-type: {}\r\ntransfer-encoding: chunked\r\n{}\r\n",
        answer.status, answer.content_type, answer.headers
    );
    let mut sent = stream.write_all(head.as_bytes());
    for piece in answer
        .body
        .chunks(answer.piece.min(answer.body.len()).max(1))
    {
        let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
        sent = sent.and_then(|()| stream.write_all(&chunk));
    }
    if answer.end == End::Whole {
        sent = sent.and_then(|()| stream.write_all(b"0\r\n\r\n"));
    }
    if answer.end == End::Cut {
        let _ = stream.shutdown(Shutdown::Both);
    }
    sent.is_ok() && answer.end != End::Cut
}
