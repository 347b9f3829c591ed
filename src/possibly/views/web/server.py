"""The live page on this machine: one page and its requests, for whoever has the token.

The server listens on the loopback interface alone. A request must name this host (so that no foreign name
can be bound to it), must carry the token, and a request that changes something must come from the page
itself: its `Origin` is this server's and its body is JSON. Everything else is refused, with nothing said
about the run. Requests are answered one after the other, since what stands behind the page is one session.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import compare_digest, token_urlsafe
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from possibly.errors import PossiblyError
from possibly.views.web.columns import shown
from possibly.views.web.live import LivePage
from possibly.views.web.page import page_of, policy

LARGEST_BODY = 1_000_000
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Server(ThreadingHTTPServer):
    """Serves one live page."""

    daemon_threads = True
    # On Windows the option would let another process take the port while this one uses it.
    allow_reuse_address = os.name != "nt"

    def __init__(self, page: LivePage, port: int = 0) -> None:
        self.page = page
        self.token = token_urlsafe(32)
        self.lock = Lock()
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost"))

    @property
    def address(self) -> str:
        """Where the page is, for a browser of the same user."""
        return f"http://127.0.0.1:{self.server_port}/?token={self.token}"


@contextmanager
def serving(page: LivePage, port: int = 0) -> Iterator[Server]:
    """The server, answering in a thread of its own until the block ends."""
    with Server(page, port) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "possibly"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        given = parse_qs(parts.query).get("token", [""])[0]
        if not self._is_for_us() or not self._has_token(given):
            self._refuse()
        elif parts.path != "/":
            self._send(HTTPStatus.NOT_FOUND, "text/plain", "there is one page here: /")
        else:
            self._send_page()

    def do_POST(self) -> None:
        origins = [f"http://{host}" for host in self.server.hosts]
        is_ours = self._is_for_us() and self.headers.get("Origin") in origins
        if not is_ours or not self._has_token(self.headers.get("X-Possibly-Token", "")):
            self._refuse()
            return
        try:
            what, body = self._request()
            with self.server.lock:
                answer = self.server.page.ask(what, body)
        except PossiblyError as error:
            self._send_json(HTTPStatus.BAD_REQUEST, {"error": str(error)})
        except RecursionError:
            self._send_json(HTTPStatus.BAD_REQUEST, {"error": "the request is nested too deeply"})
        except Exception as error:  # noqa: BLE001 - the outermost door of the live page
            self._send_json(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": _own_error(error)})
        else:
            self._send_json(HTTPStatus.OK, answer)

    def _send_page(self) -> None:
        try:
            with self.server.lock:
                document = self.server.page.document()
            document["live"] = {"token": self.server.token}
            text = page_of(document)
        except Exception as error:  # noqa: BLE001 - the outermost door of the live page
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", _own_error(error))
        else:
            self._send(HTTPStatus.OK, "text/html", text)

    def _is_for_us(self) -> bool:
        """The name in the address is this machine's: a page of another name that leads here is foreign."""
        site = self.headers.get("Sec-Fetch-Site", "none")
        return self.headers.get("Host") in self.server.hosts and site in ("none", "same-origin")

    def _has_token(self, given: str) -> bool:
        return compare_digest(given.encode("utf-8", "replace"), self.server.token.encode())

    def _request(self) -> tuple[str, dict[str, Any]]:
        length = self.headers.get("Content-Length", "")
        is_json = self.headers.get("Content-Type", "").split(";")[0].strip() == "application/json"
        if not is_json or not length.isdecimal() or int(length) > LARGEST_BODY:
            raise PossiblyError("a request is a JSON document of moderate size")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except ValueError:
            raise PossiblyError("the request is no JSON document") from None
        if not isinstance(body, dict) or not self.path.startswith("/api/"):
            raise PossiblyError("no such request")
        return self.path.removeprefix("/api/"), body

    def _refuse(self) -> None:
        self._send(HTTPStatus.FORBIDDEN, "text/plain", "open the address that possibly printed")

    def _send_json(self, status: HTTPStatus, document: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(shown(document)))

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        content = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", f"{policy(live=True)}; frame-ancestors 'none'")
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Nothing: a request is no news, and its address holds the token."""


def _own_error(error: Exception) -> str:
    return f"an error of possibly itself, please report it: {type(error).__name__}: {error}"
