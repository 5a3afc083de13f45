"""The answers that Claude Code began and others copied: JSON on stdout, the reason on stderr too, and exit code 2.

A host with other words overrides the method of the part that differs; each puts its part into ``body``, the object on
stdout, or into ``specific``, which ``assembled`` nests under ``hookSpecificOutput``.
"""

from __future__ import annotations

from .answer import Answer, encode, joined, tidy, trimmed
from .host import Host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .reply import Reply

    Body = dict[str, Any]

_EXITS_WITH_2 = frozenset({"permission", "decision", "exit", "go_on"})


class ClaudeFamily(Host):
    """A host that takes answers of Claude Code's form."""

    # Whether the model reads all of stderr where a hook exits 2.
    model_reads_stderr = False

    def encode(self, reply: Reply) -> Answer:
        """Return the answer. A refusal that exits with 2 has all that the model needs on stderr too."""
        body: Body = {}
        specific: Body = {}
        if reply.refuses:
            self.refuse(reply, body, specific)
        elif reply.verdict:
            self.permit(reply, body, specific)
        elif reply.args is not None or reply.request is not None:
            self.put_subject(reply, body, specific)
        if reply.stops:
            self.halt(reply, body)
        if reply.result:
            self.put_result(reply, body, specific)
        if reply.context:
            self.add_context(reply, body, specific)
        if reply.message:
            self.tell(reply, body)
        stdout = encode(self.assembled(reply, body, specific))
        if reply.refuses and self.exits_with_2(reply):
            # Without a reason on stdout, the model reads stderr: notes for people on stdout are not repeated there.
            is_read = self.model_reads_stderr or (reply.row.refuse == "exit" and bool(reply.message))
            shown = "" if is_read else joined(reply.message, reply.aside)
            return Answer(stdout=stdout, stderr=tidy(joined(reply.reason, reply.context, shown)), exit_code=2)
        return Answer(stdout=stdout, stderr=tidy(reply.aside))

    # -- the parts ---------------------------------------------------------------------------------------------------

    def refuse(self, reply: Reply, body: Body, specific: Body) -> None:
        """Say that this must not happen, in the form that the row names."""
        form, short = reply.row.refuse, trimmed(reply.reason)
        if form == "permission":
            specific.update({"permissionDecision": "deny", "permissionDecisionReason": short})
        elif form == "behavior":
            specific["decision"] = {"behavior": "deny", "message": short}
            if reply.interrupts:
                specific["decision"]["interrupt"] = True
        elif form in ("decision", "go_on"):
            body.update({"decision": "block", "reason": short})
        elif form == "halt":
            body.update({"continue": False, "stopReason": short})

    def permit(self, reply: Reply, body: Body, specific: Body) -> None:  # noqa: ARG002 - for flat hosts
        """Say that this may happen (``allow``) or that the user decides (``ask``), perhaps with new arguments."""
        if reply.row.refuse == "behavior":
            specific["decision"] = {"behavior": reply.verdict}
            return
        specific["permissionDecision"] = reply.verdict
        if reply.reason and "ask" in reply.row.takes:
            specific["permissionDecisionReason"] = trimmed(reply.reason)
        if reply.args is not None:
            specific["updatedInput"] = reply.args

    def put_subject(self, reply: Reply, body: Body, specific: Body) -> None:
        """Put new arguments, or a new request to the model, in the place of the old, without a permission."""
        raise NotImplementedError

    def halt(self, reply: Reply, body: Body) -> None:
        """Say that the run ends."""
        body.update({"continue": False, "stopReason": trimmed(reply.stops)})

    def put_result(self, reply: Reply, body: Body, specific: Body) -> None:  # noqa: ARG002 - for flat hosts
        """Put a new result in the place of the tool's own."""
        specific["updatedToolOutput"] = reply.result[0]

    def add_context(self, reply: Reply, body: Body, specific: Body) -> None:  # noqa: ARG002 - for flat hosts
        """Add text for the model."""
        specific["additionalContext"] = reply.context

    def tell(self, reply: Reply, body: Body) -> None:
        """Say something to people."""
        body["systemMessage"] = trimmed(reply.message)

    def assembled(self, reply: Reply, body: Body, specific: Body) -> Body:
        """Return the object on stdout."""
        return {**body, "hookSpecificOutput": {"hookEventName": reply.event, **specific}} if specific else body

    def exits_with_2(self, reply: Reply) -> bool:
        """Whether a refusal exits with 2 as well.

        Whether Claude Code takes a new result along with exit 2 is documented for no version.
        """
        return reply.row.refuse in _EXITS_WITH_2 and not reply.result
