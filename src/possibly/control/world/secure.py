"""TLS on connections inside the program: the protocol of `asyncio` itself, on a wire under control.

What it writes is encrypted anew in each execution: so it is not shown.
"""

from __future__ import annotations

import ssl
from asyncio import sslproto
from collections.abc import Callable
from typing import Any

Opened = Callable[[tuple[Any, Any]], Any]
TIMES = ("ssl_handshake_timeout", "ssl_shutdown_timeout")


def _times(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in TIMES if options.get(name) is not None}


def for_server(loop: Any, factory: Any, options: dict[str, Any]) -> Any:
    """Makes the protocols of a server speak TLS, if that is asked for."""
    context = options.get("ssl")
    if not context:
        return factory

    nobody: Any = None  # waits until both have agreed

    def made() -> Any:
        return sslproto.SSLProtocol(loop, factory(), context, nobody, True, **_times(options))

    return made


def for_client(loop: Any, factory: Any, host: Any, options: dict[str, Any]) -> tuple[Any, Opened]:
    """Likewise of a client: what makes its protocol, and what waits until both have agreed."""
    context = options.get("ssl")

    async def at_once(opened: tuple[Any, Any]) -> tuple[Any, Any]:
        return opened

    if not context:
        return factory, at_once
    name = options.get("server_hostname")
    waiter = loop.create_future()
    wanted = ssl.create_default_context() if context is True else context

    def made() -> Any:
        at = host if name is None else name
        return sslproto.SSLProtocol(loop, factory(), wanted, waiter, False, at, **_times(options))

    async def agreed(opened: tuple[Any, Any]) -> tuple[Any, Any]:
        link, protocol = opened
        try:
            await waiter
        except BaseException:
            link.close()
            raise
        return protocol._get_app_transport(), protocol._app_protocol

    return made, agreed


def is_secret(protocol: Any) -> bool:
    """Whether what comes to this protocol is encrypted."""
    return isinstance(protocol, sslproto.SSLProtocol)
