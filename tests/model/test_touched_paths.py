"""The paths of an event are resolved once for all the hooks of its dispatch, and anew for the next one."""

from __future__ import annotations

import os

import pytest

from agent_hooks import HookContext, HookManager, PathMatcher, ToolCall, hookimpl
from agent_hooks.model import touched_paths
from agent_hooks.system.paths import real_path
from engine import Plugin


@pytest.fixture
def resolved(monkeypatch):
    """How often each path was resolved."""
    counts: dict[str, int] = {}

    def counting(path):
        counts[path] = counts.get(path, 0) + 1
        return real_path(path)

    monkeypatch.setattr(touched_paths, "real_path", counting)
    return counts


def reading(path, cwd, project=""):
    call = ToolCall("Read", {"file_path": str(path)})
    return HookContext("before_tool_use", tool_call=call, cwd=str(cwd), project_dir=str(project))


def test_twenty_scopes_and_matchers_resolve_a_path_once(tmp_path, resolved):
    manager = HookManager(load_plugins=False)
    for number in range(20):
        folder = tmp_path / f"part{number}"
        hook = hookimpl(match=PathMatcher(f"src/{number}/**"))(lambda ctx: None)
        manager.register(Plugin(before_tool_use=hook), f"hooks{number}", scope=("directory", str(folder)))
    hooks = manager.hooks()
    hooks.dispatch_sync(reading(tmp_path / "a.txt", tmp_path, tmp_path))
    assert set(resolved.values()) <= {1, 2}  # the argument is a known path, and one of all that may be paths
    assert str(tmp_path / "a.txt") in resolved
    before = dict(resolved)
    hooks.dispatch_sync(reading(tmp_path / "a.txt", tmp_path, tmp_path))
    assert resolved == {path: 2 * count for path, count in before.items()}


def test_a_link_that_has_moved_is_seen_by_the_next_dispatch(tmp_path):
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "old")
    manager = HookManager(load_plugins=False)
    seen = []
    hook = hookimpl(match=PathMatcher(f"{os.path.realpath(tmp_path)}/new/**"))(lambda ctx: seen.append(1))
    manager.register(Plugin(before_tool_use=hook))
    manager.hooks().dispatch_sync(reading(link / "a", tmp_path))
    assert seen == []
    link.unlink()
    link.symlink_to(tmp_path / "new")
    manager.hooks().dispatch_sync(reading(link / "a", tmp_path))
    assert seen == [1]


def test_a_rewritten_call_and_another_folder_are_resolved_anew(tmp_path):
    matcher = PathMatcher("secret/*")
    ctx = reading("public/a", tmp_path)
    assert not matcher(ctx)
    assert matcher(ctx.with_tool_args({"file_path": "secret/a"}))
    assert not matcher(ctx)
    assert not matcher(reading("a", tmp_path))
    assert matcher(ctx.replace(cwd=str(tmp_path), tool_call=ToolCall("Read", {"file_path": f"{tmp_path}/secret/b"})))
    assert matcher(reading("a", tmp_path).replace(tool_call=ToolCall("Read", {"file_path": "secret/a"})))
    assert not matcher(reading("a", tmp_path / "secret"))
    assert matcher(reading(f"{tmp_path}/secret/secret/a", tmp_path / "secret"))


def of(call, cwd="/work", project="/project"):
    return HookContext("before_tool_use", tool_call=call, cwd=cwd, project_dir=project)


def test_the_folders_of_an_event_are_as_written_and_resolved(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    link, real = str(tmp_path / "link"), os.path.realpath(tmp_path)
    assert touched_paths.working_folders(of(None, cwd=link)) == (link, real)
    assert touched_paths.project_folders(of(None, project=link)) == (link, real)
    nowhere = of(None, cwd="", project="")
    assert (touched_paths.working_folders(nowhere), touched_paths.project_folders(nowhere)) == ((), ())


def test_the_paths_of_a_call_are_absolute_and_no_call_has_none():
    call = ToolCall("Read", {"file_path": "a/../b", "other": "/c"})
    assert touched_paths.touched_paths(of(call)) == ("/work/b",)
    assert "/c" in touched_paths.further_paths(of(call))
    for find in (touched_paths.touched_paths, touched_paths.further_paths, touched_paths.command_paths):
        assert find(of(None)) == ()


def test_the_paths_of_a_command_are_its_words_with_a_separator():
    call = ToolCall("Bash", {"command": "cat 'a/b' >c/d;x --out=/e/f plain"}, kind="shell")
    assert touched_paths.command_paths(of(call)) == ("/work/a/b", "/work/c/d", "/e/f")
    assert touched_paths.command_paths(of(ToolCall("Bash", {"command": "a/b"}, kind="other"))) == ()
    assert touched_paths.command_paths(of(ToolCall("Bash", {"text": "a/b"}, kind="shell"))) == ()
