"""The messages API of Anthropic on loopback: each agent, known by its system prompt, plays a script of its own."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
# A block of a reply: text, or the id, name and arguments of a tool call. An exception is an error of the API.
Reply = list[str | tuple[str, str, Json]] | Exception


class Model:
    """``scripts``: part of an agent's system prompt -> its replies. ``seen``: the same -> its requests, as text."""

    def __init__(self, scripts: dict[str, list[Reply]]) -> None:
        self.scripts = scripts
        self.seen: dict[str, list[str]] = {name: [] for name in scripts}
        self.url = ""
        self._lock = Lock()

    def answer(self, request: Json) -> Reply:
        """Return the next reply to the agent of this request."""
        system = json.dumps(request.get("system"))
        with self._lock:
            name = next((name for name in self.scripts if name in system), None)
            if name is None:
                return ["Done."]
            self.seen[name].append(_strings([request.get("system"), request.get("messages")]))
            script = self.scripts[name]
            if script and isinstance(script[0], Exception):
                return script[0]  # for good: the client asks again
            return script.pop(0) if script else ["Done."]


def _strings(value: Any) -> str:
    if isinstance(value, str):
        return value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "\n".join(filter(None, map(_strings, children)))


def _events(reply: list[Any]) -> Iterator[Json]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    ends: Json = {"stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": {**message, **ends, "usage": usage}}
    for index, block in enumerate(reply):
        if isinstance(block, str):
            start: Json = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": f"{word} "} for word in block.split(" ")]
            deltas[-1]["text"] = deltas[-1]["text"][:-1]
        else:
            start = {"type": "tool_use", "id": block[0], "name": block[1], "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block[2])}]
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ends["stop_reason"] = "end_turn" if isinstance(reply[-1], str) else "tool_use"
    yield {"type": "message_delta", "delta": ends, "usage": usage}
    yield {"type": "message_stop"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Print nothing."""

    def do_GET(self) -> None:
        self._send(200, "application/json", "{}")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if not self.path.partition("?")[0].endswith("/messages"):
            self._send(200, "application/json", json.dumps({"input_tokens": 1}))
            return
        reply = self.model.answer(request)
        if isinstance(reply, Exception):  # of a kind that clients do not try again
            error = {"type": "invalid_request_error", "message": str(reply)}
            self._send(400, "application/json", json.dumps({"type": "error", "error": error}))
            return
        events = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(reply))
        self._send(200, "text/event-stream", "".join(events))

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def serving(scripts: dict[str, list[Reply]]) -> Iterator[Model]:
    """Serve a model that plays these scripts."""
    model = Model(scripts)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": model}))
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
