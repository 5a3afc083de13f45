"""Where the blocks of a script end."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tokens import Token


_RUBY_OPENS = frozenset("begin case class module def".split())
_RUBY_MAYBE = frozenset("if unless while until for".split())
_LUA_OPENS = frozenset("function if do".split())
_JULIA_OPENS = frozenset("function if for while begin let try do module struct quote macro".split())


def block_ends(found: list[Token], language: str) -> dict[int, int]:
    """For each opening bracket or word the position of what closes it."""
    closes: dict[int, int] = {}
    stack: list[tuple[str, int]] = []
    loop_do = False
    for at, token in enumerate(found):
        text = token.text
        if token.kind == "operator":
            if text in ("(", "[", "{"):
                stack.append((text, at))
            elif text in (")", "]", "}"):
                opening = {")": "(", "]": "[", "}": "{"}[text]
                for back in range(len(stack) - 1, max(-1, len(stack) - 40), -1):
                    if stack[back][0] == opening:
                        for name, position in stack[back + 1 :]:
                            if name in ("(", "[", "{"):
                                closes.setdefault(position, at)
                        closes[stack[back][1]] = at
                        del stack[back:]
                        break
        elif token.kind == "name" and language in ("ruby", "lua", "julia"):
            before = found[at - 1] if at else None
            if (
                before is not None
                and before.kind == "operator"
                and before.text in (".", "&.", "::")
                and not token.newline
            ):
                continue
            if text == "end":
                while stack:
                    name, position = stack.pop()
                    closes.setdefault(position, at)
                    if name == "end":
                        break
            elif language == "lua" and (text in _LUA_OPENS or text in ("while", "for")):
                if text == "do" and loop_do:
                    loop_do = False
                    continue
                loop_do = text in ("while", "for") or loop_do
                stack.append(("end", at))
            elif language == "julia" and text in _JULIA_OPENS:
                if not any(name in ("(", "[") for name, _position in stack[-1:]):
                    stack.append(("end", at))
            elif language == "ruby":
                starts = (
                    before is None
                    or token.newline
                    or (before.kind == "operator" and before.text in ("=", ";", "(", "{", "|", "=>", "[", ","))
                    or (
                        before.kind == "name"
                        and before.text in ("then", "do", "else", "begin", "ensure", "and", "or", "return")
                    )
                )
                if text in _RUBY_OPENS or (text in _RUBY_MAYBE and starts):
                    stack.append(("end", at))
                    loop_do = text in ("while", "until", "for")
                elif text == "do":
                    if loop_do:
                        loop_do = False
                    else:
                        stack.append(("end", at))
            if token.newline and language == "ruby" and text not in ("while", "until", "for"):
                loop_do = False
    last = len(found)
    for _name, position in stack:
        closes.setdefault(position, last)
    return closes
