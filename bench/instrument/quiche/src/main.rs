//! An HTTP/3 server on Cloudflare's quiche, as an origin of the bench beside quic-go: the same small document and files of
//! any size, over cubic or BBRv2, and what the sender counted of each connection, posted as path samples.
//!
//! `quiche-origin ADDRESS:PORT cubic|bbr2 CERT.pem KEY.pem SAMPLES.sock`; prints a line when it listens.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UdpSocket, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio_quiche::http3::driver::{IncomingH3Headers, OutboundFrame, OutboundFrameSender, ServerH3Event};
use tokio_quiche::http3::settings::Http3Settings;
use tokio_quiche::metrics::DefaultMetrics;
use tokio_quiche::quiche::h3::{Header, NameValue};
use tokio_quiche::settings::{CertificateKind, Hooks, QuicSettings, TlsCertificatePaths};
use tokio_quiche::{ConnectionParams, ServerH3Controller, ServerH3Driver, listen};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// As in the other arms (bench/lab/origin.ts); a document of the published size.
const DOCUMENT_BYTES: usize = 125;
const FILE_BYTES_MAX: usize = 1_000_000_000;
const CHUNK_BYTES: usize = 65_536;
static CHUNK: [u8; CHUNK_BYTES] = [0x5a; CHUNK_BYTES];

#[tokio::main(flavor = "current_thread")]
async fn main() {
    if let Err(error) = run().await {
        eprintln!("quiche-origin: {error}");
        std::process::exit(1);
    }
}

async fn run() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [address, congestion, cert, key, samples] = args.as_slice() else {
        return Err("usage: quiche-origin ADDRESS:PORT cubic|bbr2 CERT.pem KEY.pem SAMPLES.sock".into());
    };
    let mut settings = QuicSettings::default();
    settings.cc_algorithm = match congestion.as_str() {
        "cubic" => "cubic",
        "bbr2" => "bbr2_gcongestion",
        other => return Err(format!("congestion control {other}: it must be cubic or bbr2").into()),
    }
    .to_string();
    // Else every first connection pays the round trip of a Retry (RFC 9000, section 8.1.2), which quic-go's here does not.
    settings.disable_client_ip_validation = true;
    // tokio-quiche holds a packet until 1 ms before its time, and leaves the rest to the kernel's fq, where there is one.
    settings.enable_pacing = true;

    let socket = UdpSocket::bind(address.parse::<SocketAddr>()?).await?;
    let listening = socket.local_addr()?;
    let tls = TlsCertificatePaths {
        cert,
        private_key: key,
        kind: CertificateKind::X509,
    };
    let params = ConnectionParams::new_server(settings, tls, Hooks::default());
    let mut listeners = listen([socket], params, DefaultMetrics)?;
    let accepted = &mut listeners[0];
    println!("{}", json!({ "listening": listening.to_string() }));

    let mut terminated = signal(SignalKind::terminate())?;
    loop {
        let connection = tokio::select! {
            next = accepted.next() => next,
            _ = terminated.recv() => return Ok(()),
        };
        let Some(connection) = connection else { return Ok(()) };
        // A client that breaks off in its handshake is nobody's concern.
        let Ok(connection) = connection else { continue };
        let (driver, controller) = ServerH3Driver::new(Http3Settings::default());
        let running = connection.start(driver);
        let samples = samples.clone();
        tokio::spawn(async move {
            serve(controller).await;
            let client = running.peer_addr();
            let sample = {
                let stats = running
                    .stats()
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                let path = stats.path_stats.as_ref();
                let ms = |duration: std::time::Duration| duration.as_secs_f64() * 1000.0;
                json!({ "samples": [{
                    "clientAddress": client.ip().to_string(),
                    "transport": "quic",
                    "connectionId": hex(running.scid()),
                    "atMs": now_ms(),
                    "rttMs": path.map(|path| ms(path.rtt)),
                    "minRttMs": path.and_then(|path| path.min_rtt).map(ms),
                    "packetsSent": stats.stats.sent,
                    "packetsLost": stats.stats.lost,
                    "bytesSent": stats.stats.sent_bytes,
                    "deliveryRateBps": path.map(|path| path.delivery_rate),
                    "closing": true,
                }] })
            };
            if let Err(error) = post(&samples, &sample.to_string()).await {
                eprintln!("quiche-origin: a sample is lost: {error}");
            }
        });
    }
}

/// Answers requests until the connection is gone. That it is ending is told earlier, before its counters are final.
async fn serve(mut controller: ServerH3Controller) {
    while let Some(event) = controller.event_receiver_mut().recv().await {
        if let ServerH3Event::Headers { incoming_headers, .. } = event {
            let IncomingH3Headers { headers, send, .. } = incoming_headers;
            let path = headers
                .iter()
                .find(|header| header.name() == b":path")
                .map(|header| header.value().to_vec());
            tokio::spawn(respond(send, path.unwrap_or_default()));
        }
    }
}

async fn respond(mut send: OutboundFrameSender, path: Vec<u8>) {
    let bytes = bytes_of(&String::from_utf8_lossy(&path));
    let status = if bytes.is_some() { "200" } else { "404" };
    let mut left = bytes.unwrap_or(0);
    let headers = vec![
        Header::new(b":status", status.as_bytes()),
        Header::new(b"content-type", b"application/octet-stream"),
        Header::new(b"content-length", left.to_string().as_bytes()),
        Header::new(b"cache-control", b"no-store"),
    ];
    // An error means that the client has gone.
    if send.send(OutboundFrame::Headers(headers, None)).await.is_err() {
        return;
    }
    loop {
        let size = left.min(CHUNK_BYTES);
        left -= size;
        let body = OutboundFrame::Body(Bytes::from_static(&CHUNK[..size]), left == 0);
        if send.send(body).await.is_err() || left == 0 {
            return;
        }
    }
}

/// What a path asks for: the document, or `/image/<bytes>`.
fn bytes_of(path: &str) -> Option<usize> {
    if path.starts_with("/index.html") {
        return Some(DOCUMENT_BYTES);
    }
    path.strip_prefix("/image/")?
        .parse()
        .ok()
        .filter(|bytes| *bytes <= FILE_BYTES_MAX)
}

async fn post(socket: &str, body: &str) -> Result<()> {
    let mut stream = UnixStream::connect(socket).await?;
    let head = format!(
        "POST /samples HTTP/1.1\r\nhost: samples\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    if !answer.starts_with(b"HTTP/1.1 2") {
        return Err("it was refused".into());
    }
    Ok(())
}

fn now_ms() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis())
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::bytes_of;

    #[test]
    fn serves_the_document_and_files_of_any_size() {
        assert_eq!(bytes_of("/index.html/1000000"), Some(125));
        assert_eq!(bytes_of("/image/1000000"), Some(1_000_000));
        assert_eq!(bytes_of("/image/1000000001"), None);
        assert_eq!(bytes_of("/image/x"), None);
        assert_eq!(bytes_of("/"), None);
    }
}
