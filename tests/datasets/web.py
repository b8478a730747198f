"""A small web server on this machine, for tests of downloads."""

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Serves ``server.files``: path -> bytes."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/silent":
            self.server.closing.wait(10)
            return
        content = self.server.files.get(self.path.removeprefix("/cut"))
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        if not self.path.startswith("/unknown-length"):
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        # What begins with /cut breaks off in the middle.
        half = len(content) // 2
        self.wfile.write(content[:half] if self.path.startswith("/cut") else content)

    def log_message(self, *_):
        """Say nothing."""


@contextlib.contextmanager
def web_server(files):
    """Serve some files; yield the server with its ``url`` and the ``asked`` paths."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.asked, server.closing = files, [], threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
