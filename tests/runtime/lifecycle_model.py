"""A plain model of the life of one run, to compare the runtime with.

It is pure and synchronous and shares nothing with the runtime, nor with the engine but the table of events. All hooks
come from one source, so ranks play no part; an action of a hook is a string, and every rewrite is idempotent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent_hooks.model.events import HookEvent
from agent_hooks.model.policy import HookPolicy
from agent_hooks.model.state import StopReason

POLICY = HookPolicy()
EVENTS = (
    *("user_input", "before_execution", "should_continue", "before_step", "before_inference", "after_inference"),
    *("before_tool_use", "on_tool_error", "after_tool_use", "after_step", "on_error", "on_stop", "before_output"),
    "after_execution",
)
WITHIN_STEP = EVENTS[2:11]
SOFT = ("completed", "finish_reason", "unknown")
BLOCKING = ("deny", "stop")
PASSING = ("skip", "force_continue", "retry")
STRENGTH = ("proceed", "allow", "skip", "force_continue", "retry", "deny", "stop")
UNKNOWN = "…"  # stands for any text: the lifecycle does not depend on messages of exceptions
TOOLS = ("work", "broken", "flaky", "quit")
MADE = "The call was made before, and its result was refused."
NOT_RUN = "Not run: the run was stopped."


@dataclass(frozen=True)
class Hook:
    """A hook that does one thing: a decision, or raise, signal, context, message, note (on the state), rewrite, limit.

    ``nth`` is the call in which it does so, 0 for every one; ``reason`` that of its signal; ``silent`` ones give no
    reason for their decisions. A limit signals as soon as ``nth`` steps are on record.
    """

    name: str
    event: str
    does: str = "proceed"
    priority: int = 0
    nth: int = 0
    reason: str = "unknown"
    silent: bool = False


@dataclass(frozen=True)
class Reply:
    """What the driver does when it is asked: it answers, asks for tools, or raises ("error", or "stop" for the run)."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, str]], ...] = ()
    raises: str = ""


@dataclass(frozen=True)
class Signal:
    """A stop signal, and the hook it comes from, if any; ``failed``: it stands for a gate that failed."""

    reason: str
    source: str = ""
    failed: bool = False


@dataclass
class Step:
    """A step that is on record."""

    text: str | None = None
    calls: bool = False
    failed: bool = False
    place: int = -1  # of its message in the conversation


@dataclass
class Said:
    """The outcome of the hooks on an event, and the data that they returned."""

    event: str
    subject: Any
    decision: str = "proceed"
    hook: str = ""
    reason: str = UNKNOWN
    failed: bool = False
    context: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    signals: list[Signal] = field(default_factory=list)

    @property
    def blocks(self) -> bool:
        return self.decision in BLOCKING


@dataclass(frozen=True)
class Seen:
    """What an observer notices of an event; ``step`` only of those that belong to a step."""

    event: str
    step: int | None = None
    tool: str = ""
    was_blocked: bool = False
    stop_hook_active: bool = False
    decision: str = "proceed"
    status: str = ""


def reason_of(hook: str) -> str:
    """What a hook says, whatever it decides or brings."""
    return f"because of {hook}"


def rewritten(subject: Any, hook: str) -> Any:
    """The subject with the hook's mark on it, the same however often it is put there."""
    if isinstance(subject, dict):
        return {**subject, "text": rewritten(subject.get("text"), hook)}
    text = subject or ""
    return text if f"<{hook}>" in text else f"{text}<{hook}>"


def use(tool: str, args: dict[str, str], before: int) -> str | None:
    """What a tool returns, None if it fails, "quit" if it stops the run; it was used ``before`` times.

    An unknown one and wrong arguments fail.
    """
    works = {"work": True, "broken": False, "flaky": before % 2 == 1, "quit": True}.get(tool, False)
    if not works or set(args) != {"text"}:
        return None
    return "quit" if tool == "quit" else f"did {args['text']}"


def told(said: Said) -> list[tuple[str, str]]:
    """What hooks tell the model."""
    context = ["\n\n".join(said.context)] if said.context else []
    return [("user", text) for text in [*said.messages, *context]]


def answers(signal: Signal, *, shown: bool) -> bool:
    """Whether a wish for another round overrides the signal: a decision to stop only of a hook that was shown it."""
    decided = signal.reason == "stop_requested" and not signal.failed
    return signal.reason in SOFT or (decided and shown)


class Lifecycle:
    """One agent with its hooks and its conversation; ``run`` may be called again and again."""

    def __init__(self) -> None:
        self.status = "ready"
        self.executions = 0
        self.messages: list[tuple[str, str]] = []
        self.metadata: dict[str, int] = {}
        self.steps: list[Step] = []
        self.signals: list[Signal] = []
        self.output: str | None = None
        self.usage = 0  # one token for each answer

    # -- a run ---------------------------------------------------------------------------------------------------------

    def run(self, hooks: list[Hook], replies: list[Reply], prompt: str | None) -> None:
        self.hooks, self.replies = sorted(hooks, key=lambda hook: -hook.priority), list(replies)
        self.seen: list[Seen] = []
        self.calls: dict[str, int] = {}
        self.used: list[tuple[str, dict[str, str]]] = []
        self.requests: list[list[tuple[str, str]]] = []
        self.refused = False
        before = self.status, self.steps, self.signals, self.usage, self.output, self.executions
        self.steps, self.signals, self.output, self.usage = [], [], None, 0
        self.status, self.failed, self.forced = "in_progress", False, 0
        self.wish: Said | None = None  # the wish of a hook for another round
        self.granted = False
        self.executions += 1
        if prompt is not None and not self.accepts(prompt):
            if self.refused:
                self.status, self.steps, self.signals, self.usage, self.output, self.executions = before
            return
        self.take(self.ask("before_execution"))
        while self.begins():
            self.step()
        self.end()

    def accepts(self, prompt: str) -> bool:
        said = self.ask("user_input", prompt)
        if said.decision == "deny":
            self.refused = True
            return False
        self.take(said)
        if said.decision == "stop":
            self.status = "stopped"
            return False
        self.messages += [("user", said.subject), *told(said)]
        return True

    def begins(self) -> bool:
        """Whether another step begins; each time it does not, on_stop may still want one."""
        while not self.goes_on():
            self.wish, self.granted = None, False
            if self.stops_at("on_stop"):
                return False
        return True

    def goes_on(self) -> bool:
        if self.must_stop() or self.stops_at("should_continue") or self.stops_at("before_step"):
            return False
        if self.wish:
            self.messages.append(("user", self.wish.reason))
        self.wish, self.granted = None, False
        return True

    def stops_at(self, event: str) -> bool:
        self.take(self.ask(event))
        return self.must_stop(shown=event == "on_stop")

    def must_stop(self, *, shown: bool = False) -> bool:
        """Whether signals stand. A wish holds until its round begins, and counts once."""
        if not self.signals:
            return False
        if not self.wish or not all(answers(signal, shown=shown) for signal in self.signals):
            return True
        if not self.granted:
            if self.forced == POLICY.max_forced_continuations:
                return True
            self.forced, self.granted = self.forced + 1, True
        self.signals = []
        return False

    def end(self) -> None:
        last = self.steps[-1] if self.steps else Step()
        if last.text is not None and not last.calls:
            said = self.ask("before_output", last.text)
            self.take(said)
            self.output = None if said.blocks else said.subject
            self.messages[last.place] = ("assistant", said.reason if said.blocks else said.subject)
        reported = self.reported
        forced = reported is not None and StopReason.parse(reported).was_force_stopped
        failed = self.failed or any(step.failed for step in self.steps)
        self.status = "failed" if failed else "stopped" if forced else "completed"
        self.take(self.ask("after_execution"))

    @property
    def reported(self) -> str | None:
        return min((signal.reason for signal in self.signals), key=lambda r: StopReason.parse(r).rank, default=None)

    # -- a step --------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        step = self.infer()
        self.take(self.ask("after_step"))
        if step is not None:
            self.steps.append(step)

    def infer(self) -> Step | None:
        """Ask the model until it has answered; None if it was not asked, so that there is nothing to record.

        Context of hooks on a retried request is sent at once, and stays in the conversation once.
        """
        hints: list[tuple[str, str]] = []
        already: list[tuple[str, str]] = []
        step: Step | None = None
        for attempt in range(1 + POLICY.max_retries):
            said = self.ask("before_inference")
            self.take(said)
            new = [message for message in told(said) if message not in already]
            request = [*self.messages, *hints, *new]
            already += new
            self.messages += new
            if said.blocks:
                return step
            self.requests.append(request)
            reply = self.replies.pop(0) if self.replies else Reply("done")
            if reply.raises == "stop":
                self.signals.append(Signal("stop_requested"))
                return step
            if reply.raises:
                said = self.ask("on_error")
                self.take(said)
                if said.decision == "retry" and attempt < POLICY.max_retries:
                    continue
                self.failed = True
                self.signals.append(Signal("error"))
                return Step(failed=True)
            self.usage += 1
            step = Step()
            said = self.ask("after_inference")
            self.take(said)
            if said.decision == "deny":
                return step
            if said.decision != "retry":
                return self.answered(reply, told(said), run=said.decision != "stop")
            hints += [("user", said.reason)] * (said.reason != UNKNOWN) + told(said)
        self.signals.append(Signal("retry_limit"))
        return step

    def answered(self, reply: Reply, brought: list[tuple[str, str]], *, run: bool) -> Step:
        """Make the calls and put everything into the conversation."""
        step = Step(reply.text, calls=bool(reply.calls), place=len(self.messages))
        results: list[tuple[str, str]] = []
        for tool, args in reply.calls:
            text, failed, run = self.call(tool, args, brought) if run else (f"Denied: {NOT_RUN}", False, False)
            results.append(("tool", text))
            step.failed |= failed
        self.messages += [("assistant", reply.text), *results, *brought]
        return step

    def call(self, tool: str, args: dict[str, str], brought: list[tuple[str, str]]) -> tuple[str, bool, bool]:
        """Return the text about a call for the model, whether it failed, and whether the next ones run."""
        for made in range(1 + POLICY.max_retries):
            said = self.ask("before_tool_use", args, tool=tool)
            self.take(said)
            context = said.context
            if said.blocks:
                context = [*context, MADE] if made else context
                self.look("after_tool_use", Said("after_tool_use", None), tool=tool, was_blocked=True)
                return "\n\n".join([f"Denied: {said.reason}", *context]), False, said.decision == "deny"
            result = use(tool, said.subject, sum(tool == used for used, _ in self.used))
            if tool in TOOLS and set(said.subject) == {"text"}:
                self.used.append((tool, said.subject))
            quits = result == "quit"
            if quits:
                self.signals.append(Signal("stop_requested"))
                result = None
            error, again, stopped = UNKNOWN, False, quits
            if result is None:
                said = self.ask("on_tool_error", error, tool=tool)
                self.take(said)
                error, context = said.subject, context + said.context
                again, stopped = said.decision == "retry", stopped or said.blocks
            said = self.ask("after_tool_use", result, tool=tool)
            self.take(said)
            refused, stopped = said.decision == "retry", stopped or said.decision == "stop"
            context = context + said.context
            brought += [("user", text) for text in said.messages]
            if stopped or not (again or refused):
                break
        withheld = said.decision == "deny" or refused
        reason = f"{UNKNOWN}{said.reason}" if refused else said.reason
        result = said.subject
        text = f"Result withheld: {reason}" if withheld else f"Error: {error}" if result is None else result
        return "\n\n".join([text, *context]), result is None and not withheld and not quits, not stopped

    # -- the hooks on an event -----------------------------------------------------------------------------------------

    def ask(self, event: str, subject: Any = None, tool: str = "") -> Said:
        said = self.decide(HookEvent.parse(event), subject)
        if event == "should_continue" and self.steps and not self.steps[-1].calls:
            said.signals.append(Signal("completed"))
        self.look(event, said, tool=tool)
        return said

    def look(self, event: str, said: Said, tool: str = "", *, was_blocked: bool = False) -> None:
        """Let the observers see."""
        step = len(self.steps) if event in WITHIN_STEP else None
        active = event == "on_stop" and self.forced > 0
        status = self.status if event == "after_execution" else ""
        self.seen.append(Seen(event, step, tool, was_blocked, active, said.decision, status))

    def take(self, said: Said) -> None:
        """What hooks bring is kept whatever they decide; a block is a wish to stop, except where it is about a call."""
        about_a_call = said.event in ("before_tool_use", "after_tool_use", "on_tool_error")
        own_place = about_a_call or said.event in ("user_input", "before_inference", "after_inference")
        self.metadata.update(said.notes)
        if not own_place:
            self.messages += told(said)
        self.signals += said.signals
        if said.decision == "stop" or (said.decision == "deny" and not about_a_call):
            self.signals.append(Signal("stop_requested", said.hook, said.failed))
        if said.decision == "force_continue":
            self.wish = said

    def decide(self, event: HookEvent, subject: Any) -> Said:
        """Walk until a walk leaves the subject alone."""
        said = Said(str(event), subject)
        answers: dict[str, tuple[Any, str]] = {}
        for _ in range(1 + POLICY.max_rechecks):
            before = said.subject
            said.decision = "proceed"
            for hook in (hook for hook in self.hooks if hook.event == event):
                answer = self.answer(hook, said, answers)
                failed = answer == "failed"
                if failed:
                    answer = str(event.closed)
                if STRENGTH.index(answer) > STRENGTH.index(said.decision):
                    said.decision, said.hook, said.failed = answer, hook.name, failed
                    said.reason = UNKNOWN if failed or hook.silent else reason_of(hook.name)
                if answer in (*BLOCKING, *PASSING) and not event.asks_all:
                    break
            if said.blocks or said.subject == before:
                return said
        if "deny" in event.decisions:
            said.decision, said.hook, said.reason, said.failed = "deny", "", UNKNOWN, True
        said.subject = subject
        return said

    def answer(self, hook: Hook, said: Said, answers: dict[str, tuple[Any, str]]) -> str:
        """Return the hook's decision about the current subject; it is called only if it has not decided yet."""
        known = answers.get(hook.name)
        if known and known[0] == said.subject:
            return known[1]
        self.calls[hook.name] = count = self.calls.get(hook.name, 0) + 1
        does = hook.does if hook.nth in (0, count) or hook.does == "limit" else "proceed"
        if does == "limit":
            does = "signal" if len(self.steps) >= hook.nth else "proceed"
        if does == "rewrite":
            said.subject = rewritten(said.subject, hook.name)
        if known is None:
            said.context += [reason_of(hook.name)] * (does == "context")
            said.messages += [reason_of(hook.name)] * (does == "message")
            said.signals += [Signal(hook.reason, hook.name)] * (does == "signal")
            said.notes.update({hook.name: count} if does == "note" else {})
        if does == "raise":
            does = "failed" if HookEvent.parse(hook.event).closed in BLOCKING else "proceed"
        decision = does if does in ("failed", "allow", *BLOCKING, *PASSING) else "proceed"
        answers[hook.name] = (said.subject, decision)
        return decision
