"""Draws ``lifecycle.svg`` from the table of events: ``python docs/lifecycle_svg.py``.

Where a box stands is said here; what is written in it is what ``HookEvent`` says. Sizes are in pixels.
"""

from __future__ import annotations

from html import escape
from itertools import pairwise
from pathlib import Path

from agent_hooks import HookEvent
from agent_hooks.model.events import COMMON_CHANGES

PICTURE = Path(__file__).with_name("lifecycle.svg")

# One run, from top to bottom. What is no event is said in words and drawn as a pill.
MAIN = (
    *("user_input", "before_execution", "should_continue", "before_step", "before_inference", "the model answers"),
    *("after_inference", "before_tool_use", "the tool runs", "after_tool_use", "after_step"),
    *("on_stop", "before_output", "after_execution"),
)
# What stands beside the run, and beside what.
ASIDE = {"on_error": "the model answers", "permission_request": "before_tool_use", "on_tool_error": "the tool runs"}
FRAMES = (
    ("each step", "should_continue", "after_step", 40),
    ("for each tool call, if any", "before_tool_use", "after_tool_use", 16),
)
# What hooks can do at most, and the style in which it is written.
MEANINGS = {
    "may refuse": ("refuse", "a hook can keep something from happening"),
    "may change": ("change", "a hook can change something, or whether the run goes on"),
    "only observed": ("observed", "a hook can only look"),
}
STOPPED = "a stop signal stands"
# What leads down to an event, where it is not always the next one.
DOWN = {"on_stop": STOPPED, "before_output": "if there is a final answer"}
# Where a stop signal leads past everything else to ``on_stop``.
OUT = ("before_execution", "should_continue", "before_step")
# Ways back, on the left: from, to, what leads there, how far out.
BACK = (
    ("after_inference", "before_inference", "retry", 30),
    ("after_tool_use", "before_tool_use", "next call, retry", 30),
    ("after_step", "should_continue", "next step", 54),
    ("on_stop", "should_continue", "force_continue", 78),
)

WIDTH, LEFT, BOX, ASIDE_LEFT, ASIDE_BOX, TOP, ROW, TALL, PILL = 900, 130, 350, 550, 290, 40, 92, 62, 30
STYLE = """
svg { --page: #ffffff; --ink: #1f2328; --soft: #59636e; --line: #818b98; --frame: #d1d9e0;
  --refuse: #bc4c00; --change: #0969da; --observed: #59636e }
@media (prefers-color-scheme: dark) { svg { --page: #0d1117; --ink: #f0f6fc; --soft: #9198a1; --line: #656c76;
  --frame: #3d444d; --refuse: #f0883e; --change: #4493f8; --observed: #9198a1 } }
text { font: 11.5px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: var(--soft) }
.name { font-size: 14px; font-weight: 600; fill: var(--ink) }
.page { fill: var(--page) } .box { fill: var(--page); stroke: var(--line) }
.frame { fill: none; stroke: var(--frame); stroke-dasharray: 5 4 }
.way { fill: none; stroke: var(--line) } .head { fill: var(--line) }
.refuse { fill: var(--refuse) } .change { fill: var(--change) } .observed { fill: var(--observed) }
"""
HEAD = """<defs><marker id="head" markerWidth="8" markerHeight="8" refX="1" refY="4" orient="auto">
<path class="head" d="M0 0L8 4L0 8z"/></marker></defs>"""


def kind(event: HookEvent) -> str:
    """Return what a hook on this event can do at most, one of ``MEANINGS``."""
    if "deny" in event.decisions or event.closed in ("deny", "stop"):
        return "may refuse"
    return "only observed" if event.observe_only else "may change"


def facts(event: HookEvent) -> list[str]:
    """Return what a hook may decide and what it may change, in a line each."""
    # A deny that reads as another decision stands beside that one.
    words = (f"{word} or deny" if word == event.reads_deny_as else word for word in sorted(event.decisions))
    decisions = ", ".join(words) or "nothing"
    changes = ", ".join([*([event.subject] if event.subject else []), *sorted(own_changes(event))])
    return [f"decides {decisions}", f"changes {changes}" if changes else "changes nothing"]


def can_ask(name: str) -> bool:
    """Return whether a hook on this event may ask somebody first."""
    return "ask" in HookEvent.parse(name).decisions


def own_changes(event: HookEvent) -> frozenset[str]:
    """Return what an outcome may bring here that it may not bring everywhere, the subject aside."""
    return event.changes - COMMON_CHANGES - {event.subject}


def place(name: str) -> tuple[int, int, int, int]:
    """Return left, top, width and height of a box or pill."""
    row = MAIN.index(ASIDE.get(name, name))
    top = TOP + ROW * row
    if name in ASIDE:
        return ASIDE_LEFT, top, ASIDE_BOX, TALL
    return (LEFT, top, BOX, TALL) if "_" in name else (LEFT + 75, top + (TALL - PILL) // 2, BOX - 150, PILL)


def box(name: str) -> str:
    """Draw an event with its facts, or a pill with words."""
    left, top, width, height = place(name)
    if "_" not in name:
        return rect("box", *place(name), 15) + text(left + width // 2, top + 19, name, anchor="middle")
    event = HookEvent.parse(name)
    found = kind(event)
    style, _ = MEANINGS[found]
    parts = [
        f'<g id="{event}">',
        rect("box", left, top, width, height, 6),
        rect(style, left, top, 6, height, 3),
        text(left + 18, top + 20, str(event), "name"),
        text(left + width - 12, top + 20, found, style, anchor="end"),
        *(text(left + 18, top + 38 + 16 * number, line) for number, line in enumerate(facts(event))),
        "</g>",
    ]
    return "".join(parts)


def rect(style: str, left: int, top: int, width: int, height: int, corner: int) -> str:
    """Draw a rectangle with round corners."""
    return f'<rect class="{style}" x="{left}" y="{top}" width="{width}" height="{height}" rx="{corner}"/>'


def text(x: int, y: int, words: str, style: str = "", anchor: str = "start") -> str:
    """Draw one line of text."""
    chosen = f' class="{style}"' if style else ""
    return f'<text{chosen} x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'


def way(path: str, words: str = "", at: tuple[int, int] = (0, 0)) -> str:
    """Draw an arrow along ``path``, and what leads there."""
    arrow = f'<path class="way" d="{path}" marker-end="url(#head)"/>'
    return arrow + text(*at, words) if words else arrow


def ways() -> list[str]:
    """Draw every arrow."""
    middle = LEFT + BOX // 2
    drawn = []
    for upper, lower in pairwise(MAIN):
        _, top, _, height = place(upper)
        down = f"M{middle} {top + height}V{place(lower)[1] - 7}"
        drawn.append(way(down, DOWN.get(lower, ""), (middle + 10, top + height + 22)))
    for start, end, words, out in BACK:
        low, high = place(start)[1] + TALL // 2, place(end)[1] + TALL // 2 + out // 5
        label = (LEFT - out - 5, (low + high) // 2)
        turned = f'<g transform="rotate(-90 {label[0]} {label[1]})">{text(*label, words, anchor="middle")}</g>'
        drawn += [way(f"M{LEFT} {low}H{LEFT - out}V{high}H{LEFT - 7}"), turned]
    drawn += [*aside_ways(), *stop_ways()]
    return drawn


def aside_ways() -> list[str]:
    """Draw the ways to what stands beside the run, and back."""
    right, side, out = LEFT + BOX, ASIDE_LEFT + ASIDE_BOX // 2, WIDTH - 36
    model, call, tool = (place(name)[1] + TALL // 2 for name in ("on_error", "permission_request", "on_tool_error"))
    request, after, step = (place(name)[1] for name in ("before_inference", "after_tool_use", "after_step"))
    others = [name for name in MAIN[: MAIN.index("before_tool_use")] if "_" in name and can_ask(name)]
    return [
        text(ASIDE_LEFT, call + TALL // 2 + 16, f"also for {' and '.join(others)}"),
        way(f"M{right - 75} {model}H{ASIDE_LEFT - 7}", "raises", (right - 65, model - 6)),
        way(f"M{side} {model - 31}V{request + 31}H{right + 7}", "retry", (right + 14, request + 25)),
        way(f"M{side + ASIDE_BOX // 2} {model}H{out}V{step + 31}H{right + 7}", "failed", (right + 14, step + 25)),
        way(f"M{right} {call - 8}H{ASIDE_LEFT - 7}", "ask", (right + 14, call - 14)),
        way(f"M{ASIDE_LEFT} {call + 12}H{right + 7}", "answer", (right + 8, call + 28)),
        way(f"M{right - 75} {tool}H{ASIDE_LEFT - 7}", "fails", (right - 65, tool - 6)),
        way(f"M{side} {tool + 31}V{after + 31}H{right + 7}"),
    ]


def stop_ways() -> list[str]:
    """Draw the ways from a stop signal to ``on_stop``."""
    right, out = LEFT + BOX, WIDTH - 16
    stop = place("on_stop")[1] + TALL // 2
    heights = [place(name)[1] + TALL // 2 for name in OUT]
    return [
        *(f'<path class="way" d="M{right} {height}H{out}"/>' for height in heights),
        *(text(right + 14, height - 6, STOPPED) for height in heights),
        way(f"M{out} {heights[0]}V{stop}H{right + 7}"),
    ]


def frames() -> list[str]:
    """Draw the rounds that are made again and again."""
    drawn = []
    for words, first, last, out in FRAMES:
        top, low = place(first)[1] - 22, place(last)[1] + TALL + 8
        left = LEFT - out - 60
        drawn += [rect("frame", left, top, WIDTH - left - 24, low - top, 10), text(left + 10, top + 15, words)]
    return drawn


def picture() -> str:
    """Return the whole picture."""
    height = TOP + ROW * len(MAIN) + 30
    drawn = [word for word in (*MAIN, *ASIDE) if "_" in word]
    found = {kind(HookEvent.parse(name)) for name in drawn}
    legend = [(name, meaning) for name, meaning in MEANINGS.items() if name in found]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">',
            "<title>One run of an agent, event by event</title>",
            f"<style>{STYLE}</style>",
            HEAD,
            rect("page", 0, 0, WIDTH, height, 8),
            *frames(),
            *ways(),
            *map(box, [*MAIN, *ASIDE]),
            *(
                text(LEFT, height - 34 + 18 * number, f"{name}: {meaning}", style)
                for number, (name, (style, meaning)) in enumerate(legend)
            ),
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
