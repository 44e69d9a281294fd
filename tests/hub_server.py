"""A loopback server that hands one model's files out as a model hub does."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

REVISION = "0" * 39 + "1"


class _Hub(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    repository: str
    folder: Path
    fetched: list[str]

    def do_HEAD(self):
        self.answer(with_body=False)

    def do_GET(self):
        self.answer(with_body=True)

    def answer(self, *, with_body):
        path = self.path.split("?")[0]
        if path.startswith(f"/api/models/{self.repository}/tree/"):
            self.send([described(file) for file in sorted(self.folder.iterdir())], with_body)
        elif path.startswith(f"/api/models/{self.repository}"):
            names = [{"rfilename": file.name} for file in sorted(self.folder.iterdir())]
            self.send({"id": self.repository, "sha": REVISION, "siblings": names}, with_body)
        elif path.startswith(f"/{self.repository}/resolve/"):
            self.send_file(self.folder / path.rsplit("/", 1)[1], with_body)
        else:
            self.send_error(404)

    def send_file(self, file, with_body):
        if not file.is_file():
            self.send_error(404)
            return
        data = file.read_bytes()
        if with_body:
            self.fetched.append(file.name)
        self.send_response(200)
        self.send_header("ETag", f'"{described(file)["oid"]}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.finish_with(data, with_body)

    def send(self, value, with_body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.finish_with(json.dumps(value).encode(), with_body)

    def finish_with(self, data, with_body):
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if with_body:
            self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextmanager
def hub_server(repository, folder):
    """Serve a folder as a repository; yield the endpoint and the list of files fetched."""
    fetched = []

    members = {"repository": repository, "folder": folder, "fetched": fetched}
    handler = type("Hub", (_Hub,), members)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", fetched
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def described(file):
    data = file.read_bytes()
    oid = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    return {"type": "file", "path": file.name, "size": len(data), "oid": oid}
