"""A real S3 server on loopback with one bucket, and a way to it that can be cut."""

import http.client
import logging
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from moto.moto_server.threaded_moto_server import ThreadedMotoServer

BUCKET = "bucket"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "AKIDSHOWNNOWHERE",
    "AWS_SECRET_ACCESS_KEY": "secret-shown-nowhere",
    "AWS_REGION": "us-east-1",
}


@contextmanager
def bucket_server():
    """Serve an empty bucket; give the endpoint's URL."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    connection = http.client.HTTPConnection(host, port)
    connection.request("PUT", f"/{BUCKET}")
    assert connection.getresponse().status == 200
    connection.close()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


class Road:
    """Pass requests on to an endpoint until it is cut; then answer 503."""

    def __init__(self, endpoint):
        self.target = urlsplit(endpoint).netloc
        self.refusal = None
        self.writes_left = None
        """How many PUT requests still pass; None for all."""
        road = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                road.pass_on(self)

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_any

            def log_message(self, *arguments):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._server.shutdown()
        self._server.server_close()

    def refuse_all(self, status, text):
        """Answer every request alike from here on."""
        self.refusal = (status, text)

    def pass_on(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        if request.command == "PUT" and self.writes_left is not None:
            self.writes_left -= 1
            if self.writes_left < 0:
                self.refuse_all(503, "")
        if self.refusal:
            status, text = self.refusal
            self._answer(request, status, {}, text.encode())
            return
        connection = http.client.HTTPConnection(self.target, timeout=30)
        try:
            connection.request(request.command, request.path, body, dict(request.headers))
            reply = connection.getresponse()
            self._answer(request, reply.status, dict(reply.getheaders()), reply.read())
        finally:
            connection.close()

    def _answer(self, request, status, headers, data):
        request.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("connection", "transfer-encoding", "server", "date"):
                if name.lower() == "content-length" and request.command != "HEAD":
                    continue
                request.send_header(name, value)
        if request.command != "HEAD":
            request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(data)
