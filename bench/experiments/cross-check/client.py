"""A client that shares no code with k6 and its extension: aioquic for HTTP/3, h2 and Python's own ssl for HTTP/2.

    client.py PLAN [ACK_DELAY_MS]  runs the loads of a plan as k6 reads it (bench/instrument/k6/plan.ts), and prints a line of JSON
                                   for each; acknowledges QUIC packets so late instead of as aioquic does
    client.py --versions           prints what it is made of

Of a plan it knows what the cross-check needs: sessions of one document each, over h2 or h3. Each session opens a
connection of its own; there is no resumption, no 0-RTT, and none but the given certificate is trusted.
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
    """Milliseconds since the moment before the connection was opened."""

    def __init__(self):
        self.began = time.perf_counter()
        self.handshakeMs = None
        self.ttfbMs = None
        self.loadMs = None
        self.bytes = 0

    def now(self):
        return (time.perf_counter() - self.began) * 1000


def headers_of(origin, path):
    return [
        (b":method", b"GET"),
        (b":scheme", b"https"),
        (b":authority", f"{origin['host']}:{origin['port']}".encode()),
        (b":path", path.encode()),
        (b"user-agent", b"cross-check"),
    ]


def check_status(headers):
    status = dict(headers).get(b":status")
    if status != b"200":
        raise LoadError(f"the status is {status}")


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
            http.local_settings = h2.settings.Settings(
                client=True,
                initial_values={
                    h2.settings.SettingCodes.ENABLE_PUSH: 0,
                    h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: H2_STREAM_WINDOW,
                },
            )
            http.initiate_connection()
            http.increment_flow_control_window(H2_CONNECTION_WINDOW)
            stream = http.get_next_available_stream_id()
            http.send_headers(stream, headers_of(origin, path), end_stream=True)
            tls.sendall(http.data_to_send())
            while timing.loadMs is None:
                tls.settimeout(max(0.001, deadline - time.monotonic()))
                data = tls.recv(1 << 16)
                if not data:
                    raise LoadError("the server closed the connection")
                for event in http.receive_data(data):
                    on_h2_event(event, http, timing)
                if pending := http.data_to_send():
                    tls.sendall(pending)
            http.close_connection()
            tls.sendall(http.data_to_send())
    return timing


def on_h2_event(event, http, timing):
    if isinstance(event, h2.events.ResponseReceived):
        timing.ttfbMs = timing.now()
        check_status(event.headers)
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
            self.take(event)
        except LoadError as error:
            if not self.done.done():
                self.done.set_exception(error)

    def take(self, event):
        if isinstance(event, HandshakeCompleted):
            self.timing.handshakeMs = self.timing.now()
            # The protocol sends what is queued once it has handled the events of a datagram.
            self.http.send_headers(self._quic.get_next_available_stream_id(), self.headers, end_stream=True)
        elif isinstance(event, (ConnectionTerminated, StreamReset)) and not self.done.done():
            raise LoadError(f"the server ended it: {event}")
        for part in self.http.handle_event(event):
            if isinstance(part, HeadersReceived):
                self.timing.ttfbMs = self.timing.now()
                check_status(part.headers)
            elif isinstance(part, DataReceived):
                self.timing.bytes += len(part.data)
            if isinstance(part, (HeadersReceived, DataReceived)) and part.stream_ended and not self.done.done():
                self.timing.loadMs = self.timing.now()
                self.done.set_result(None)


async def load_h3(load, path, ack_delay_ms):
    origin = load["origin"]
    configuration = QuicConfiguration(
        is_client=True,
        alpn_protocols=H3_ALPN,
        # No server_name: with one aioquic also compares names, and its service_identity refuses any certificate that
        # names *.localhost, as the edge's does. The chain is verified all the same, against this file, which has the
        # edge's own certificate and no other.
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
    loop = asyncio.get_running_loop()
    transport, client = await loop.create_datagram_endpoint(
        lambda: H3Client(quic, timing, headers_of(origin, path)), sock=udp
    )

    def fail(_, context):
        # What aioquic raises while it reads a datagram (a bad certificate) would else end in a timeout.
        if not client.done.done():
            client.done.set_exception(LoadError(repr(context.get("exception") or context["message"])))

    loop.set_exception_handler(fail)
    try:
        client.connect((origin["address"], origin["port"]))
        await asyncio.wait_for(client.done, load["timeoutMs"] / 1000)
    finally:
        # Sends CONNECTION_CLOSE at once; the server need not wait for its idle timeout.
        client.close()
        transport.close()
    return timing


async def run_session(load, session, context, ack_delay_ms):
    path = session["pages"][0]["document"]
    if session["firstProtocol"] == "h3":
        return await load_h3(load, path, ack_delay_ms)
    return load_h2(load, path, context)


async def run_load(load, ack_delay_ms):
    """All sessions, of which one is timed; its line of JSON."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(load["origin"]["caFile"])
    context.set_alpn_protocols(["h2"])
    result = {"id": load["id"], "outcome": "ok", "error": ""}
    for session in load["sessions"]:
        started, cpu = time.time() * 1000, time.process_time()
        try:
            timing = await run_session(load, session, context, ack_delay_ms)
        except TimeoutError as error:  # of a socket and of asyncio
            result.update(outcome="timeout", error=f"timeout {error}".strip(), startedMs=started)
            return result
        except (LoadError, OSError, ConnectionError) as error:
            result.update(outcome="failed", error=f"{type(error).__name__}: {error}", startedMs=started)
            return result
        if session["timed"]:
            del timing.began
            result.update(vars(timing), startedMs=started, clientCpuMs=(time.process_time() - cpu) * 1000)
        await asyncio.sleep(session["pauseAfterMs"] / 1000)
    return result


async def main(plan_file, ack_delay_ms=None):
    with open(plan_file, encoding="utf-8") as file:
        plan = json.load(file)
    for load in plan["loads"]:
        print(json.dumps(await run_load(load, ack_delay_ms)), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--versions"]:
        print(
            json.dumps(
                {
                    "python": platform.python_version(),
                    "aioquic": version("aioquic"),
                    "h2": version("h2"),
                    "openssl": ssl.OPENSSL_VERSION,
                }
            )
        )
    else:
        asyncio.run(main(sys.argv[1], *map(float, sys.argv[2:])))
