"""A handler's `if` lets it run for the tool calls that Claude Code would run it for, and where that cannot be told."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.engine.markers import WEAKLY
from agent_hooks.errors import RegistrationError
from agent_hooks.formats.claude.conditions import CommandLine, claude_if
from agent_hooks.model.context import HookContext
from agent_hooks.model.tool_call import ToolCall


def tool(name, args=None, *, cwd="/repo", **facts):
    return HookContext("before_tool_use", tool_call=ToolCall(name, args, **facts), cwd=cwd)


def bash(command):
    return tool("Bash", {"command": command})


def runs(rule, ctx, root="/repo"):
    return claude_if(rule, root)(ctx)


# -- commands ----------------------------------------------------------------------------------------------------------

COMMANDS = [
    # The table of Claude Code's documentation.
    ("Bash(git *)", "FOO=bar git push", True),
    ("Bash(git *)", "npm test && git push", True),
    ("Bash(rm *)", "echo $(rm -rf /)", True),
    ("Bash(rm *)", "echo $(date)", False),
    ("Bash(git push *)", "echo $(date)", True),
    # Expansions hide what a rule that says more than the program is about.
    ("Bash(git push *)", "echo `date`", True),
    ("Bash(git push *)", "echo $HOME", True),
    ("Bash(npm test)", "echo $HOME", True),
    ("Bash(git push *)", "echo '$HOME'", False),
    ("Bash(rm *)", "echo $HOME", False),
    # Without a specifier, or with a star alone: every call.
    ("Bash", "anything", True),
    ("Bash(*)", "anything", True),
    ("Bash()", "anything", True),
    ("Bash(:*)", "anything", True),
    ("Bash(:*)", "", True),
    # Blanks before a star are a border between words.
    ("Bash(ls *)", "ls -la", True),
    ("Bash(ls *)", "ls", True),
    ("Bash(ls *)", "lsof", False),
    ("Bash(ls*)", "lsof", True),
    ("Bash(ls:*)", "ls -la", True),
    ("Bash(ls:*)", "lsof", False),
    ("Bash(git:* push)", "git push", False),
    ("Bash(npm run build)", "npm run build", True),
    ("Bash(npm run build)", "npm run build --x", False),
    ("Bash(git * main)", "git push origin main", True),
    ("Bash(git * main)", "git push origin dev", False),
    ("Bash(* --version)", "node --version", True),
    ("Bash(* --help *)", "npm --help install", True),
    ("Bash(*secret*)", "cat a/secret.txt", True),
    ("Bash(*a*b*c*)", "xxaxxbxxcxx", True),
    ("Bash(*a*b*c*)", "xxaxxcxxbxx", False),
    ("Bash(a*a)", "a", False),
    (r"Bash(echo \(a\) \* \\)", "'echo' x", False),
    (r"Bash(echo \*)", "echo x", False),
    # Every command of a line counts.
    ("Bash(git push *)", "ls; git push -f", True),
    ("Bash(git push *)", "ls | git push", True),
    ("Bash(git push *)", "ls\ngit push", True),
    ("Bash(git push *)", "(cd x && git push)", True),
    ("Bash(git push *)", "if true; then git push; fi", True),
    ("Bash(rm *)", "for x in a b; do rm $x; done", True),
    ("Bash(rm *)", "f() { rm x; }; f", True),
    ("Bash(rm *)", "function f { rm x; }; f", True),
    ("Bash(rm *)", "function f() { rm x; }; f", True),
    ("Bash(rm *)", "function f if rm x; then :; fi", True),
    ("Bash(rm *)", "function rm { ls; }", False),
    ("Bash(rm *)", "coproc rm x", True),
    ("Bash(rm *)", "coproc job { rm x; }", True),
    ("Bash(rm *)", "coproc job while rm x; do :; done", True),
    ("Bash(rm *)", "coproc ls rm x", False),
    ("Bash(rm *)", "A[0]=1 rm x", True),
    ("Bash(rm *)", "A[0]+=1 B+=2 rm x", True),
    ("Bash(rm *)", "A[$(date)]=1 rm x", True),
    ("Bash(rm *)", "A[i + 1]=1 rm x", True),
    ("Bash(rm *)", "$'\\x72\\x6d' x", WEAKLY),
    ("Bash(rm *)", "[ -f rm ]", False),
    ("Bash(rm *)", "{log}>file rm x", True),
    ("Bash(rm *)", "while ! rm x; do :; done", True),
    ("Bash(rm *)", "echo 'a && rm x'", False),
    ("Bash(rm *)", "echo rm x", False),
    ("Bash(rm *)", "cat <<'E'\nrm x\nE", False),
    ("Bash(rm *)", "A=1 B='x y' C=\"$(z)\" rm x", True),
    ("Bash(rm *)", "A=$(rm x)", True),
    ("Bash(git push *)", "git   push   -f", True),
    # Redirections are no part of a command.
    ("Bash(npm test)", "npm test > log 2>&1", True),
    # Programs that run another one are looked past, others are not.
    ("Bash(npm test *)", "timeout 30 npm test", True),
    ("Bash(npm test *)", "timeout -s KILL -k 5 30s npm test", True),
    ("Bash(npm test *)", "timeout --signal=KILL 30 nice -n 10 npm test", True),
    ("Bash(npm test *)", "time nohup npm test", True),
    ("Bash(npm test *)", "stdbuf -oL npm test", True),
    ("Bash(npm test *)", "command npm test", True),
    ("Bash(rm *)", "find . | xargs rm", True),
    ("Bash(rm *)", "find . | xargs -0 rm", False),
    ("Bash(rm *)", "command -v rm", False),
    ("Bash(timeout *)", "timeout 5 ls", True),
    ("Bash(rm *)", "npx rm x", False),
    ("Bash(rm *)", "sudo rm x", False),
    # What cannot be told.
    ("Bash(rm *)", "echo 'unfinished", WEAKLY),
    ("Bash(rm *)", "cat <<E\nnever ends", False),
    ("Bash(rm *)", "x" * 10_001, WEAKLY),
    ("Bash(rm *)", "$TOOL -rf x", WEAKLY),
    ("Bash(rm *)", '"$(which rm)" x', WEAKLY),
    ("Bash(rm *)", "'rm' x", WEAKLY),
    ("Bash(rm *)", "r\\m x", WEAKLY),
    ("Bash(*>*)", "printf a > b", WEAKLY),
    ("Bash(ls && rm *)", "ls && rm x", WEAKLY),
    ("Bash(rm *)", "", WEAKLY),
]


@pytest.mark.parametrize(
    ("rule", "command", "expected"), COMMANDS, ids=[f"{row[0]} {row[1][:30]!r}" for row in COMMANDS]
)
def test_a_rule_for_commands(rule, command, expected):
    assert runs(rule, bash(command)) == expected


def test_a_rule_for_commands_holds_for_shells_of_other_hosts():
    assert runs("Bash(git push *)", tool("run_shell_command", {"command": "git push"})) is True
    assert runs("Bash(git push *)", tool("terminal", {"cmd": ["git", "push", "-f"]}, kind="shell")) is True
    assert runs("Bash(git push *)", tool("functions.shell", {"command": "git push"})) == WEAKLY
    assert runs("Bash(git push *)", tool("functions.shell", {"command": "git pull"})) is False
    assert runs("Bash(git push *)", tool("Read", {"file_path": "git push"})) is False
    assert runs("PowerShell(rm *)", tool("PowerShell", {"command": "ls"})) == WEAKLY


def test_a_command_that_nobody_names_is_unknown():
    assert runs("Bash(git *)", tool("Bash", {"line": "git push"})) == WEAKLY


@given(
    st.sampled_from(["Bash(rm *)", "Bash(git push *)", "Bash(*x*)", "Bash(a b)"]),
    st.text(alphabet="rm git push x\n'\"\\$(){}`<>&|;#=", max_size=50),
)
def test_any_command_has_an_answer(rule, command):
    assert runs(rule, bash(command)) in (True, False, WEAKLY)


@given(
    st.lists(st.sampled_from(["ls -l", "npm test", "echo 'a;b'"])), st.lists(st.sampled_from(["pwd", "(ls)", "f & g"]))
)
def test_a_command_that_fits_is_found_wherever_it_stands(before, after):
    line = " ; ".join([*before, "git push --force", *after])
    assert runs("Bash(git push *)", bash(line)) is True
    assert runs("Bash(git pull *)", bash(line)) is False


@pytest.mark.parametrize("rule", ["Bash(*a*a*a*a*a*a*b)", "Read(**/a/**/a/**/a/**/b)", "Read(*a*a*a*a*a*a*b)"])
def test_no_call_makes_a_rule_run_for_long(rule):
    began = time.perf_counter()
    assert runs(rule, bash("a" * 9_999)) is False
    assert runs(rule, tool("Read", {"file_path": "a/" * 2_000 + "c"})) is False
    assert runs(rule, tool("Read", {"file_path": "a" * 250})) is False
    assert time.perf_counter() - began < 10


# -- paths -------------------------------------------------------------------------------------------------------------

PATHS = [
    ("Edit(src/**)", "/repo/src/a/b.py", True),
    ("Edit(src/**)", "src/a.py", True),
    ("Edit(src/**)", "/repo/lib/src/a.py", False),
    ("Edit(src/**)", "/other/src/a.py", False),
    ("Edit(**/src/**)", "/repo/lib/src/a.py", True),
    ("Edit(src)", "/repo/lib/src/a.py", True),
    ("Edit(./src)", "/repo/src/a.py", True),
    ("Edit(./src)", "/repo/lib/src/a.py", False),
    ("Edit(src/)", "/repo/lib/src/a.py", True),
    ("Edit(*.ts)", "/repo/a.ts", True),
    ("Edit(*.ts)", "/repo/deep/er/a.ts", True),
    ("Edit(*.ts)", "/repo/a.tsx", False),
    ("Edit(*.ts)", "/other/a.ts", False),
    ("Edit(src/*.ts)", "/repo/src/deep/a.ts", False),
    ("Edit(src/**/*.ts)", "/repo/src/a.ts", True),
    ("Edit(src/**/*.ts)", "/repo/src/x/y/a.ts", True),
    ("Edit(src/?.ts)", "/repo/src/a.ts", True),
    ("Edit(src/[ab].ts)", "/repo/src/b.ts", True),
    ("Edit(src/[!ab].ts)", "/repo/src/b.ts", False),
    ("Edit(/src/**)", "/repo/src/a.py", True),
    ("Edit(//tmp/x/**)", "/tmp/x/y", True),
    ("Edit(//tmp/x/**)", "/repo/tmp/x/y", False),
    ("Edit(/tmp/x)", "/tmp/x", False),
    ("Edit(//**/.env)", "/any/where/.env", True),
    ("Edit(~/notes/**)", "/home/me/notes/a.md", True),
    ("Edit(~/notes/**)", "~/notes/a.md", True),
    ("Edit(src/**)", "/repo/src/../lib/a.py", False),
    ("Edit(lib/**)", "/repo/src/../lib/a.py", True),
    (r"Edit(a\*b)", "/repo/x", WEAKLY),
    ("Edit(!src)", "/repo/x", WEAKLY),
]


@pytest.mark.parametrize(("rule", "path", "expected"), PATHS)
def test_a_rule_for_paths(rule, path, expected, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert runs(rule, tool("Edit", {"file_path": path})) == expected


@pytest.mark.parametrize(
    ("rule", "name", "expected"),
    [
        ("Edit(a)", "Edit", True),
        ("Edit(a)", "Write", True),
        ("Edit(a)", "NotebookEdit", True),
        ("Edit", "Write", True),
        ("Edit(a)", "Read", False),
        ("Write(a)", "Write", True),
        ("Write(a)", "Edit", False),
        ("Read(a)", "Read", True),
        ("Read(a)", "Grep", True),
        ("Read(a)", "Edit", False),
    ],
)
def test_edit_and_read_hold_for_every_tool_that_does_it(rule, name, expected):
    assert runs(rule, tool(name, {"path": "/repo/a"})) is expected


def test_a_patch_is_judged_by_each_of_its_files():
    patch = {"input": "*** Update File: lib/a.py\n*** Add File: src/b.py\n+x"}
    assert runs("Edit(src/**)", tool("apply_patch", patch)) is True
    assert runs("Edit(docs/**)", tool("apply_patch", patch)) is False
    assert runs("Write(src/**)", tool("apply_patch", patch)) is True


def test_a_path_is_followed_to_where_it_really_is(tmp_path):
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "link").symlink_to(project / "src")
    (tmp_path / "alias").symlink_to(project)
    assert runs("Edit(src/**)", tool("Edit", {"file_path": "link/a.py"}, cwd=str(project))) is True
    real = tool("Edit", {"file_path": str(project / "src" / "a.py")}, cwd=str(tmp_path / "alias"))
    assert runs("Edit(src/**)", real) is True


def test_a_path_under_a_key_that_is_not_known_to_hold_one_is_weak():
    call = tool("save", {"file_path": "lib/a.py", "dest": "src/a.py", "text": "doc/a.py"}, kind="write")
    assert runs("Edit(src/**)", call) == WEAKLY
    assert runs("Edit(lib/**)", call) is True
    assert runs("Edit(doc/**)", call) is False


def test_what_is_not_known_about_paths_is_weak():
    assert runs("Read(src/**)", tool("Grep", {"pattern": "x"})) == WEAKLY
    assert runs("Read(src/**)", tool("Read", {"file_path": "/repo/src/a"}, cwd="")) == WEAKLY
    assert runs("Read(/src/**)", tool("Read", {"file_path": "/repo/src/a"}), root="") == WEAKLY


# -- other tools -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "url", "expected"),
    [
        ("WebFetch(domain:example.com)", "https://example.com/a", True),
        ("WebFetch(domain:example.com)", "https://EXAMPLE.com.:443/a", True),
        ("WebFetch(domain:Example.com)", "example.com/a", True),
        ("WebFetch(domain:example.com)", "https://www.example.com", False),
        ("WebFetch(domain:example.com)", "https://example.com@evil.net/", False),
        ("WebFetch(domain:*.example.com)", "https://www.example.com", True),
        ("WebFetch(domain:*.example.com)", "https://example.com", False),
        ("WebFetch(domain:exa*.com)", "https://other.net", WEAKLY),
        ("WebFetch(domain:example.com)", "https://[broken", False),
        ("WebFetch(domain:example.com)", "", WEAKLY),
        ("WebFetch(x)", "https://example.com", WEAKLY),
    ],
)
def test_a_rule_for_addresses(rule, url, expected):
    assert runs(rule, tool("WebFetch", {"url": url})) == expected


@pytest.mark.parametrize(
    ("rule", "call", "expected"),
    [
        ("Agent(Explore)", ToolCall("Agent", {"subagent_type": "Explore"}), True),
        ("Task(Explore)", ToolCall("Agent", {"subagent_type": "Explore"}), True),
        ("Agent(Explore)", ToolCall("Task", {"subagent_type": "Plan"}), False),
        ("Agent(Explore)", ToolCall("spawn_agent", {"agent_type": "Explore"}, kind="subagent"), True),
        ("Agent(Explore)", ToolCall("Agent", {}), WEAKLY),
        ("Agent(model:opus)", ToolCall("Agent", {"subagent_type": "Plan"}), WEAKLY),
        ("Skill(deploy *)", ToolCall("Skill", {"skill": "x"}), WEAKLY),
        ("mcp__memory", ToolCall("mcp__memory__create", kind="mcp", aliases=("mcp__memory",)), True),
        ("mcp__memory__create", ToolCall("mcp__memory__create", kind="mcp"), True),
        ("mcp__memory__*", ToolCall("mcp__memory__create", kind="mcp"), True),
        ("mcp__memory__*", ToolCall("mcp__other__create", kind="mcp"), False),
        ("mcp__*", ToolCall("mcp__other__create", kind="mcp"), True),
        ("*", ToolCall("Anything"), True),
        ("KillShell", ToolCall("TaskStop"), True),
        ("Read", ToolCall("Bash"), False),
    ],
)
def test_a_rule_for_other_tools(rule, call, expected):
    assert runs(rule, tool("x").replace(tool_call=call)) == expected


def test_a_denied_permission_is_read_from_its_payload():
    payload = {"tool_name": "Bash", "tool_input": {"command": "git push"}}
    ctx = HookContext("on_host_event", host_event="PermissionDenied", payload=payload, cwd="/repo")
    assert runs("Bash(git push *)", ctx) is True
    assert runs("Bash(git pull *)", ctx) is False
    edit = ctx.replace(payload={"tool_name": "Edit", "tool_input": {"file_path": "src/a"}})
    assert runs("Edit(src/**)", edit) is True
    server = ctx.replace(payload={"tool_name": "mcp__a__b", "tool_input": None})
    assert runs("mcp__a__*", server) is True
    assert runs("mcp__a", server) is True


def test_without_a_tool_call_it_does_not_run():
    assert runs("Bash", HookContext("on_stop")) is False


@pytest.mark.parametrize(
    "rule",
    ["", "(x)", "Bash(git *", "Bash(git *) || Bash(npm *)", "Bash git", "Bash, Edit", "Bäsh", "Bash(a))", "a(b)c"],
)
def test_what_is_not_one_rule_is_refused(rule):
    with pytest.raises(RegistrationError, match="not a permission rule"):
        claude_if(rule)


def test_brackets_may_be_in_a_rule():
    assert runs("Bash(python -c print(1))", bash("python -c 'print(1)'")) == WEAKLY
    assert runs(r"Bash(echo a\))", bash("ls")) is False


# -- the commands of a line

LINES = {
    "": [],
    "ls": ["ls"],
    "git  push\t--force": ["git push --force"],
    "a && b || c; d & e | f |& g": ["a", "b", "c", "d", "e", "f", "g"],
    "a\nb\nc": ["a", "b", "c"],
    "a \\\n  b": ["a b"],
    "a # no && b\nc": ["a", "c"],
    "a#b": ["a#b"],
    "echo 'a && b' \"c; d\" e\\;f": ["echo 'a && b' \"c; d\" e\\;f"],
    "echo $(rm -rf /)": ["rm -rf /", "echo $(rm -rf /)"],
    'echo "x $(a "$(b c)") y"': ["b c", 'a "$(b c)"', 'echo "x $(a "$(b c)") y"'],
    "echo `a; b`": ["a", "b", "echo `a; b`"],
    "(cd x && make) && ls": ["cd x", "make", "ls"],
    "diff <(sort a) >(tee b)": ["sort a", "tee b", "diff <(sort a) >(tee b)"],
    "A=1 B[0]=2 a; C=3": ["a"],
    "time -p a | ! b; coproc c": ["a", "b", "c"],
    "echo a > f 2>&1 < g >> h &> i >| j <<< k": ["echo a"],
    "echo 2 >f": ["echo 2"],
    "{log}>f a {b} >g": ["a {b}"],
    "a >f; b": ["a", "b"],
    "for x in 1 2; do rm $x; done": ["rm $x"],
    "if a; then b; else c; fi": ["a", "b", "c"],
    "f() { rm x; }": ["rm x"],
    "case $x in a) rm y;; esac": ["rm y"],
    "echo ${x:-$(a)}": ["a", "echo ${x:-$(a)}"],
    "echo $'it\\'s; fine'": ["echo $'it\\'s; fine'"],
    "echo $((1 + 2)) && b": ["echo $((1 + 2))", "b"],
    "cat <<EOF > f && ls\nrm x; 'it\nEOF\necho z": ["cat", "ls", "echo z"],
    "cat <<'EOF'\n$(rm x)\nEOF\n": ["cat"],
    "cat <<EOF\n$(rm x) `rm y`\nEOF\n": ["cat", "rm x", "rm y"],
    "cat <<-EOF\n\ta\n\tEOF\nb": ["cat", "b"],
    "cat <<A <<B\na\nA\nb\nB\nc": ["cat", "c"],
    "git commit -m \"$(cat <<'EOF'\nit's (done\nEOF\n)\" && git push": ["cat", "git commit", "git push"],
}


@pytest.mark.parametrize("text", LINES)
def test_the_commands_of_a_line(text):
    line = CommandLine(text)
    assert line.is_clear
    found = [" ".join(words) for words in line.commands]
    if "git commit" in text:  # its message is long
        found = [command.partition(" -m ")[0] for command in found]
    assert sorted(found) == sorted(LINES[text])


@pytest.mark.parametrize(
    "text",
    [
        "echo 'a",
        'echo "a',
        "echo $(a",
        "echo `a",
        "(a",
        "echo $'a",
        "echo ${a",
        "a; b )",
    ],
)
def test_what_ends_in_the_middle_is_unclear(text):
    assert not CommandLine(text).is_clear


@pytest.mark.parametrize("text", ["echo $(" * 1000, "(" * 1000, "${" * 1000, "`(" * 1000, "a" * 10_001])
def test_what_is_too_deep_or_too_long_is_unclear(text):
    assert not CommandLine(text).is_clear


@pytest.mark.parametrize(
    "text", ["echo $x", 'a "$x"', "echo ${x}", "echo $(a)", "echo `a`", "a $1", "cat <<E\n$x\nE\n"]
)
def test_it_expands(text):
    assert CommandLine(text).expands


@pytest.mark.parametrize("text", ["echo '$x'", "echo \\$x", "echo a$", "cat <<'E'\n$x `y`\nE\n", "echo $'a'", "ls 5$"])
def test_it_expands_nothing(text):
    assert not CommandLine(text).expands


@given(st.lists(st.text(alphabet="abc-/.é", min_size=1, max_size=8), min_size=1, max_size=5))
def test_plain_words_are_the_words(words):
    assert CommandLine(" ".join(words)).commands == [words]
