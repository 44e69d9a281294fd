"""Stand between a client and a real server, and keep what passes."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@dataclass
class Exchange:
    """One request and its reply."""

    path: str
    body: dict
    status: int = 0
    content_type: str = ""
    raw: bytes = b""

    @property
    def is_streamed(self) -> bool:
        return self.content_type.startswith("text/event-stream")

    @property
    def text(self) -> str:
        """Return what the model said, read by other means than the adapter's."""
        if not self.is_streamed:
            return json.loads(self.raw)["choices"][0]["message"]["content"]
        events = [
            json.loads(line.removeprefix("data: "))
            for line in self.raw.decode().split("\n")
            if line.startswith("data: {")
        ]
        return "".join(
            choice["delta"].get("content") or "" for event in events for choice in event["choices"]
        )


@dataclass
class Recorded:
    """Where the proxy listens, and what passed."""

    base_url: str
    exchanges: list[Exchange] = field(default_factory=list)


@contextmanager
def recording_proxy(target: str) -> Iterator[Recorded]:
    """Pass all requests on to the base URL of a server, while the context lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.target = urlsplit(target)
    server.recorded = Recorded(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.recorded
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        exchange = Exchange(self.path, json.loads(body))
        self.server.recorded.exchanges.append(exchange)
        upstream = http.client.HTTPConnection(self.server.target.netloc)
        try:
            upstream.request("POST", self.path, body, {"Content-Type": "application/json"})
            self.pass_on(upstream.getresponse(), exchange)
        finally:
            upstream.close()

    def pass_on(self, reply: http.client.HTTPResponse, exchange: Exchange) -> None:
        exchange.status = reply.status
        exchange.content_type = reply.headers["Content-Type"]
        self.send_response(reply.status)
        self.send_header("Content-Type", exchange.content_type)
        self.end_headers()
        while part := reply.read1():
            exchange.raw += part
            self.wfile.write(part)
