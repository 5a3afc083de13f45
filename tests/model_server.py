"""A provider of language models on loopback that speaks OpenAI's chat protocol and plays a list of replies.

For the tests of plugins, whose ``conftest.py`` puts this folder on the path.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "openai-chat:judge-1"


def verdict(ok: bool, reason: str = "", **more: Any) -> str:
    return json.dumps({"ok": ok, "reason": reason, **more})


def calls(name: str, **args: Any) -> dict[str, Any]:
    """A reply that wants a tool."""
    function = {"name": name, "arguments": json.dumps(args)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }


class Status(int):
    """A reply that is an HTTP status and nothing else."""


class ModelServer:
    """``replies``: texts, messages, ``Status``, or functions of the request that return one; the last one stays.

    ``requests``: what was asked, as JSON. ``stalled`` is set while a client waits for an answer that does not come.
    """

    def __init__(self, *replies: Any) -> None:
        self.replies: list[Any] = [*replies]
        self.requests: list[dict[str, Any]] = []
        self.finish_reason = "stop"
        self.gone = threading.Event()
        self.stalls = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(asked)
                if outer.stalls:
                    self.connection.settimeout(10)
                    outer.gone.set() if not self.connection.recv(1) else None
                    self.close_connection = True
                    return
                reply = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                reply = reply(asked) if callable(reply) else reply
                status, body = (reply, {"error": {}}) if isinstance(reply, Status) else (200, outer.completion(reply))
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.send_header("retry-after-ms", "1")  # for a client that repeats what was turned away
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Keep quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def completion(self, reply: Any) -> dict[str, Any]:
        """An answer as the protocol has it."""
        message = {"role": "assistant", "content": reply} if isinstance(reply, str) else reply
        reason = "tool_calls" if message.get("tool_calls") else self.finish_reason
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "judge-1",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100},
        }

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
