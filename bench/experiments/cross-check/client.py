"""A client that shares no code with k6 and its extension: aioquic for HTTP/3, h2 and Python's own ssl for HTTP/2.

    client.py PLAN [ACK_DELAY_MS]  runs the load of a plan as k6 reads it (bench/model/plan.ts), and prints a line of JSON;
                                   acknowledges QUIC packets so late instead of as aioquic does
    client.py --versions           prints what it is made of

Of a plan it knows what the cross-check needs: one load, of sessions of one document each, over h2 or h3. Each session opens
a connection of its own; there is no resumption, no 0-RTT, and none but the given certificate is trusted.
"""

import asyncio
import json
import platform
import socket
import ssl
import sys
import time
from importlib.metadata import version

import h2.config
import h2.connection
import h2.events
import h2.settings
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, StreamReset

# As k6 has them, so that neither window ever holds an object of 1 MB back: Go's HTTP/2 opens streams with 4 MB and the
# connection with 1 GB; quic-go's windows grow to 6 MB and 15 MB.
H2_STREAM_WINDOW = 4 << 20
H2_CONNECTION_WINDOW = 1 << 30
H3_STREAM_WINDOW = 6 << 20
H3_CONNECTION_WINDOW = 15 << 20
# What quic-go asks the kernel for. asyncio reads one datagram a turn, so that a burst waits in this buffer.
UDP_BUFFER = 7 << 20


class LoadError(Exception):
    """A load that did not go as it should, whatever the reason."""


class Timing:
    """What comes of one GET. Milliseconds since the moment before the connection was opened."""

    def __init__(self):
        self.began = time.perf_counter()
        self.handshakeMs = self.ttfbMs = self.loadMs = None
        self.bytes = 0

    def now(self):
        return (time.perf_counter() - self.began) * 1000

    def take_headers(self, headers):
        self.ttfbMs = self.now()
        status = dict(headers).get(b":status")
        if status != b"200":
            raise LoadError(f"the status is {status}")


def headers_of(origin, path):
    authority = f"{origin['host']}:{origin['port']}".encode()
    get = [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", authority), (b":path", path.encode())]
    return [*get, (b"user-agent", b"cross-check")]


def load_h2(load, path, context):
    """One GET over a new TCP connection."""
    deadline = time.monotonic() + load["timeoutMs"] / 1000
    origin = load["origin"]
    timing = Timing()
    with socket.create_connection(
        (origin["address"], origin["port"]), load["timeoutMs"] / 1000, (load["clientAddress"], 0)
    ) as tcp:
        tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with context.wrap_socket(tcp, server_hostname=origin["host"]) as tls:
            timing.handshakeMs = timing.now()
            if tls.selected_alpn_protocol() != "h2":
                raise LoadError(f"the server speaks {tls.selected_alpn_protocol()}, not h2")
            http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding=None))
            # As initial values: h2 sends these, and counts by them at once. A later change counts once it is acknowledged.
            codes = h2.settings.SettingCodes
            values = {codes.ENABLE_PUSH: 0, codes.INITIAL_WINDOW_SIZE: H2_STREAM_WINDOW}
            http.local_settings = h2.settings.Settings(client=True, initial_values=values)
            http.initiate_connection()
            http.increment_flow_control_window(H2_CONNECTION_WINDOW)
            http.send_headers(http.get_next_available_stream_id(), headers_of(origin, path), end_stream=True)
            while timing.loadMs is None:
                tls.sendall(http.data_to_send())
                tls.settimeout(max(0.001, deadline - time.monotonic()))
                data = tls.recv(1 << 16)
                if not data:
                    raise LoadError("the server closed the connection")
                for event in http.receive_data(data):
                    on_h2_event(event, http, timing)
            http.close_connection()
            tls.sendall(http.data_to_send())
    return timing


def on_h2_event(event, http, timing):
    if isinstance(event, h2.events.ResponseReceived):
        timing.take_headers(event.headers)
    elif isinstance(event, h2.events.DataReceived):
        timing.bytes += len(event.data)
        http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
    elif isinstance(event, h2.events.StreamEnded):
        timing.loadMs = timing.now()
    elif isinstance(event, (h2.events.StreamReset, h2.events.ConnectionTerminated)):
        raise LoadError(f"the server ended it: {event}")


class H3Client(QuicConnectionProtocol):
    """One GET over a new QUIC connection. `done` resolves at the last byte."""

    def __init__(self, quic, timing, headers):
        super().__init__(quic)
        self.timing = timing
        self.headers = headers
        self.http = H3Connection(quic)
        self.done = asyncio.get_running_loop().create_future()

    def quic_event_received(self, event):
        try:
            if not self.done.done():
                self.take(event)
        except LoadError as error:
            self.done.set_exception(error)

    def take(self, event):
        if isinstance(event, HandshakeCompleted):
            self.timing.handshakeMs = self.timing.now()
            # The protocol sends what is queued once it has handled the events of a datagram.
            self.http.send_headers(self._quic.get_next_available_stream_id(), self.headers, end_stream=True)
        elif isinstance(event, (ConnectionTerminated, StreamReset)):
            raise LoadError(f"the server ended it: {event}")
        for part in self.http.handle_event(event):
            if isinstance(part, HeadersReceived):
                self.timing.take_headers(part.headers)
            elif isinstance(part, DataReceived):
                self.timing.bytes += len(part.data)
                if part.stream_ended:
                    self.timing.loadMs = self.timing.now()
                    self.done.set_result(None)


async def load_h3(load, path, ack_delay_ms):
    origin = load["origin"]
    # No server_name: with one aioquic also compares names, and its service_identity refuses any certificate that names
    # *.localhost, as the edge's does. The chain is verified all the same, against this file, which has the edge's own
    # certificate and no other.
    configuration = QuicConfiguration(
        is_client=True,
        alpn_protocols=H3_ALPN,
        cafile=origin["caFile"],
        verify_mode=ssl.CERT_REQUIRED,
        max_stream_data=H3_STREAM_WINDOW,
        max_data=H3_CONNECTION_WINDOW,
    )
    timing = Timing()
    quic = QuicConnection(configuration=configuration)
    if ack_delay_ms is not None:
        # aioquic has no setting for it: a timer of 1 ms.
        quic._ack_delay = ack_delay_ms / 1000
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, UDP_BUFFER)
    udp.bind((load["clientAddress"], 0))
    transport, client = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: H3Client(quic, timing, headers_of(origin, path)), sock=udp
    )
    try:
        client.connect((origin["address"], origin["port"]))
        await asyncio.wait_for(client.done, load["timeoutMs"] / 1000)
    finally:
        # Sends CONNECTION_CLOSE at once; the server need not wait for its idle timeout.
        client.close()
        transport.close()
    return timing


async def run_load(load, ack_delay_ms):
    """All sessions, of which one is timed; the line of JSON."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(load["origin"]["caFile"])
    context.set_alpn_protocols(["h2"])
    result = {"id": load["id"], "outcome": "ok", "error": ""}
    for session in load["sessions"]:
        path = session["pages"][0]["document"]
        started, cpu = time.time() * 1000, time.process_time()
        try:
            is_h3 = session["firstProtocol"] == "h3"
            timing = await load_h3(load, path, ack_delay_ms) if is_h3 else load_h2(load, path, context)
        except (LoadError, OSError) as error:
            # A timeout of a socket and of asyncio is a TimeoutError, which is an OSError.
            outcome = "timeout" if isinstance(error, TimeoutError) else "failed"
            return {**result, "outcome": outcome, "error": f"{type(error).__name__}: {error}", "startedMs": started}
        if session["timed"]:
            del timing.began
            result.update(vars(timing), startedMs=started, clientCpuMs=(time.process_time() - cpu) * 1000)
        await asyncio.sleep(session["pauseAfterMs"] / 1000)
    return result


def versions():
    packages = {name: version(name) for name in ("aioquic", "h2")}
    return {"python": platform.python_version(), **packages, "openssl": ssl.OPENSSL_VERSION}


def run(plan_file, ack_delay_ms=None):
    with open(plan_file, encoding="utf-8") as file:
        [load] = json.load(file)["loads"]
    return asyncio.run(run_load(load, None if ack_delay_ms is None else float(ack_delay_ms)))


if __name__ == "__main__":
    print(json.dumps(versions() if sys.argv[1:] == ["--versions"] else run(*sys.argv[1:])))
