"""A language model's server on this machine, which speaks OpenAI's protocol and plays a list of answers."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    Play = Callable[["_Handler"], None]


def completion(content: str | None = None, *calls: tuple[str, str], **fields: Any) -> dict[str, Any]:
    """An answer: text, or calls of tools (name and arguments as JSON text), or both."""
    tool_calls = [
        {"id": f"call-{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": content, **({"tool_calls": tool_calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    usage = {
        "prompt_tokens": 20,
        "completion_tokens": 7,
        "total_tokens": 27,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-test-2026", "choices": [choice]}
    return {**whole, "usage": usage, **fields}


def response(*output: dict[str, Any]) -> dict[str, Any]:
    """An answer of OpenAI's other API, the one of responses."""
    usage = {
        "input_tokens": 20,
        "output_tokens": 7,
        "total_tokens": 27,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    whole = {"id": "r", "object": "response", "created_at": 1, "model": "gpt-test-2026", "status": "completed"}
    options = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {**whole, **options, "output": [*output], "usage": usage}


def fails(status: int, message: str = "", code: str | None = None, **headers: str) -> Play:
    """An error as the API words it; ``headers`` with an underscore for each hyphen."""

    def play(handler: _Handler) -> None:
        body = json.dumps({"error": {"message": message, "type": "an_error", "param": None, "code": code}})
        handler.send(status, body.encode(), **headers)

    return play


def sends(body: bytes, **headers: str) -> Play:
    """A body as it is."""
    return lambda handler: handler.send(200, body, **headers)


def streams(*pieces: str, calls: tuple[tuple[str, str], ...] = ()) -> Play:
    """An answer in pieces, as server-sent events."""

    def play(handler: _Handler) -> None:
        def chunk(delta: dict[str, Any], reason: str | None = None, **fields: Any) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            whole = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test-2026"}
            return b"data: " + json.dumps({**whole, "choices": [choice], **fields}).encode() + b"\n\n"

        parts = [chunk({"role": "assistant", "content": piece}) for piece in pieces]
        for number, (name, arguments) in enumerate(calls):
            call = {"index": number, "id": f"call-{number}", "type": "function"}
            parts.append(chunk({"tool_calls": [{**call, "function": {"name": name, "arguments": arguments}}]}))
        parts.append(chunk({}, "tool_calls" if calls else "stop"))
        used = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}
        parts.append(chunk({}, usage=used, choices=[]))
        handler.send(200, b"".join(parts) + b"data: [DONE]\n\n", Content_Type="text/event-stream")

    return play


def waits(handler: _Handler) -> None:
    """Never answer; wait until the client disconnects."""
    handler.server.is_waiting.set()
    handler.connection.settimeout(20)
    if handler.connection.recv(1) == b"":
        handler.server.was_left.set()
    handler.close_connection = True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ChatServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.connections.add(self.client_address[1])
        answer = self.server.answers.pop(0) if self.server.answers else fails(418, "The script has ended.")
        if callable(answer):
            answer(self)
        else:
            self.send(200, json.dumps(answer).encode())

    def send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content_Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its base calls it so
        """Say nothing."""


class ChatServer(ThreadingHTTPServer):
    """The server: ``answers`` to give, ``requests`` and ``headers`` it was sent, ports that it was reached from."""

    daemon_threads = True

    def __init__(self, *answers: Any) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections: set[int] = set()
        self.is_waiting = threading.Event()
        self.was_left = threading.Event()

    @property
    def url(self) -> str:
        """Where the API is."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self.shutdown()
        self.server_close()


def closed_url() -> str:
    """An address without a server."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
