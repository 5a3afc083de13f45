"""What `agent-hooks doctor` finds, and files for it to find something in."""

from __future__ import annotations

from projects import settings, toml


def kinds(done):
    return [finding["kind"] for finding in done.json["findings"]]


def of_kind(done, kind):
    """The only finding of a kind."""
    found = [finding for finding in done.json["findings"] if finding["kind"] == kind]
    assert len(found) == 1, done
    return found[0]


def place(finding):
    return f"{finding['path']}:{finding.get('line', 0)}"


def ours(*arguments, **options):
    return {"agent-hooks.toml": toml(*arguments, **options)}


def claude(*arguments, **options):
    return {".claude/settings.json": settings(*arguments, **options)}
