"""A stand-in on loopback for the API of each model: it plays a script of tool calls and keeps what it was asked."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Json = dict[str, Any]


class Model:
    """The replies that are still to be given, and every request of the agent itself.

    A request without tools (a title, a summary, a choice of model) takes nothing from the script.
    """

    def __init__(self, calls: Sequence[tuple[str, Json]], before: Mapping[int, Callable[[], None]]) -> None:
        self.calls = list(calls)
        self.before = before
        self.requests: list[Json] = []
        self.others: list[str] = []
        self.url = ""
        self._given = 0
        self._lock = Lock()

    def next(self, request: Json) -> tuple[str, str, Json] | None:
        """The id, name and arguments of the next call; None where the answer is text."""
        if not request.get("tools"):
            return None
        with self._lock:
            self.requests.append(request)
            if self._given >= len(self.calls):
                return None
            self.before.get(self._given, lambda: None)()
            name, args = self.calls[self._given]
            self._given += 1
            return f"call_{self._given:04}", name, args

    def saw(self, text: str) -> bool:
        """Whether a request of the agent itself contains the text."""
        return any(text in _strings(request) for request in self.requests)


def _strings(value: Any) -> str:
    if isinstance(value, str):
        return value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "\n".join(_strings(child) for child in children)


def anthropic(call: tuple[str, str, Json] | None) -> list[Json]:
    """Events of a message of Anthropic's API."""
    block: Json = {"type": "text", "text": ""}
    delta: Json = {"type": "text_delta", "text": "Done."}
    if call is not None:
        block = {"type": "tool_use", "id": f"toolu_{call[0]}", "name": call[1], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[2])}
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    ends = {"stop_reason": "end_turn" if call is None else "tool_use", "stop_sequence": None}
    return [
        {"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ends, "usage": usage},
        {"type": "message_stop"},
    ]


def responses(call: tuple[str, str, Json] | None) -> list[Json]:
    """Events of a response of OpenAI's API."""
    item: Json = {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "content": [{"type": "output_text", "text": "Done."}],
    }
    if call is not None:
        item = {"type": "function_call", "call_id": call[0], "name": call[1], "arguments": json.dumps(call[2])}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
    ]


def chat(call: tuple[str, str, Json] | None) -> list[Json]:
    """Chunks of a chat completion of OpenAI's API."""
    delta: Json = {"role": "assistant", "content": "Done."}
    if call is not None:
        function = {"name": call[1], "arguments": json.dumps(call[2])}
        delta = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": call[0], "type": "function", "function": function}],
        }
    head = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "stand-in"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    ends = "stop" if call is None else "tool_calls"
    return [
        head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        head | {"choices": [{"index": 0, "delta": {}, "finish_reason": ends}], "usage": usage},
    ]


def gemini(call: tuple[str, str, Json] | None) -> list[Json]:
    """The one piece of an answer of Google's API."""
    part: Json = {"text": "Done."} if call is None else {"functionCall": {"name": call[1], "args": call[2]}}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    content = {"role": "model", "parts": [part]}
    return [{"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}]


def _whole(request: Json) -> Json:
    """A chat completion or an answer of Google's that was not asked for in pieces."""
    if "messages" in request:
        message = {"role": "assistant", "content": "Done."}
        return {
            "id": "chat_1",
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
    return gemini(None)[0]


DIALECTS = (
    ("/messages", anthropic),
    ("/responses", responses),
    ("/chat/completions", chat),
    (":streamGenerateContent", gemini),
)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Nothing: what arrived is in the model."""

    def do_GET(self) -> None:
        self.model.others.append(f"GET {self.path}")
        self._send("application/json", json.dumps({"data": [], "models": []}).encode())

    do_HEAD = do_GET

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        speak = next((speak for end, speak in DIALECTS if path.endswith(end)), None)
        if speak is None or not (request.get("stream") or speak is gemini):
            self.model.others.append(f"POST {path}")
            whole = {"input_tokens": 1} if path.endswith("count_tokens") else _whole(request)
            self._send("application/json", json.dumps(whole).encode())
            return
        named = speak in {anthropic, responses}
        pieces = [
            (f"event: {piece['type']}\n" if named else "") + f"data: {json.dumps(piece)}\n\n"
            for piece in speak(self.model.next(request))
        ]
        if speak is chat:
            pieces.append("data: [DONE]\n\n")
        self._send("text/event-stream", "".join(pieces).encode())

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def serving(
    calls: Sequence[tuple[str, Json]], before: Mapping[int, Callable[[], None]] | None = None
) -> Iterator[Model]:
    """A model that makes these calls one after the other and then says that it is done.

    ``before`` has what happens just before the call of a number.
    """
    model = Model(calls, before or {})
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
