"""The files that a command names."""

from __future__ import annotations

import os
from hashlib import sha256
from time import monotonic

import pytest

from agent_hooks.errors import TrustError
from agent_hooks.formats.entry import HookEntry
from agent_hooks.model.events import HookEvent
from agent_hooks.model.values import FrozenDict
from agent_hooks.trust.scripts import HookCommand, check_scripts, python_variables


def entry(**fields) -> HookEntry:
    return HookEntry(event=HookEvent.BEFORE_TOOL_USE, type="command", path="/p/agent-hooks.toml", line=3, **fields)


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    for name in ("hooks/check.sh", "hooks/a b.py", "tools.py", "sub/own.sh"):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n")
    foreign = tmp_path / "foreign.sh"
    foreign.write_text("")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "mine.sh").symlink_to(foreign)
    return root


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"command": ["python3", "hooks/check.sh", "x"]}, ["hooks/check.sh"]),
        ({"command": ["python3", "${CLAUDE_PROJECT_DIR}/tools.py"]}, ["tools.py"]),
        ({"command": "hooks/check.sh", "args": []}, ["hooks/check.sh"]),
        ({"command": "node", "args": ["hooks/a b.py", "--in=tools.py"]}, ["hooks/a b.py", "tools.py"]),
        ({"command": "./hooks/check.sh"}, ["hooks/check.sh"]),
        ({"command": '"$CLAUDE_PROJECT_DIR"/hooks/check.sh --fast'}, ["hooks/check.sh"]),
        ({"command": '"$CLAUDE_PROJECT_DIR/hooks/a b.py"'}, ["hooks/a b.py"]),
        ({"command": "${CLAUDE_PROJECT_DIR}/hooks/check.sh"}, ["hooks/check.sh"]),
        ({"command": "true&&./hooks/check.sh|tools.py;echo"}, ["hooks/check.sh", "tools.py"]),
        ({"command": "cd hooks && ./check.sh"}, ["hooks/check.sh"]),
        ({"command": 'bash -c "./hooks/check.sh now"'}, ["hooks/check.sh"]),
        ({"command": "X=$(python tools.py) `hooks/check.sh`"}, ["tools.py", "hooks/check.sh"]),
        ({"command": "python3 'hooks/a b.py"}, []),
        ({"command": "python3 tools.py 'unclosed"}, ["tools.py"]),
        ({"command": "own.sh"}, ["sub/own.sh"]),
        ({"command": "${CLAUDE_PROJECT_DIR:-.}/hooks/check.sh"}, ["hooks/check.sh"]),
        ({"command": '"${CLAUDE_PROJECT_DIR:-$(git rev-parse --show-toplevel)}"/hooks/check.sh'}, ["hooks/check.sh"]),
        ({"command": '"${CLAUDE_PROJECT_DIR:-${PWD}}/hooks/a b.py"'}, ["hooks/a b.py"]),
        ({"command": "${CLAUDE_PLUGIN_ROOT:-plugin}/own.sh"}, ["sub/own.sh"]),
        ({"command": "$PWD/own.sh; ${PWD}/own.sh; $(pwd)/own.sh"}, ["sub/own.sh"]),
        ({"command": '"$PWD"/own.sh'}, ["sub/own.sh"]),
        ({"command": "./check.sh", "cwd": "../hooks"}, ["hooks/check.sh"]),
        ({"command": "$PWD/check.sh", "cwd": "../hooks"}, ["hooks/check.sh"]),
        ({"command": "$(git rev-parse --show-toplevel)/hooks/check.sh"}, ["hooks/check.sh"]),
        ({"command": '"$(git rev-parse --show-toplevel)/hooks/a b.py"'}, ["hooks/a b.py"]),
        ({"command": "`git rev-parse --show-toplevel`/hooks/check.sh"}, ["hooks/check.sh"]),
        ({"command": "bash -c '$CLAUDE_PROJECT_DIR/hooks/check.sh'"}, ["hooks/check.sh"]),
        ({"command": "$HOME/mine.sh"}, ["../home/mine.sh"]),
        ({"command": "$CLAUDE_PROJECT_DIRECTORY/hooks/check.sh"}, []),
        ({"command": "python3 tools.py; python3 tools.py"}, ["tools.py"]),
        ({"command": "../foreign.sh"}, ["../foreign.sh"]),
        ({"command": "~/mine.sh"}, ["../home/mine.sh"]),
        ({"command": "/bin/sh -c hooks"}, []),
        ({"command": "no/such/file"}, []),
        ({"command": ["a\0b", 5]}, []),
        ({"command": 5}, []),
        ({}, []),
    ],
)
def test_the_scripts_that_a_command_names_are_found(config, expected, project):
    (project / ".git").mkdir()
    place = {"project_dir": str(project), "directory": str(project / "sub"), "plugin_root": str(project / "sub")}
    found = HookCommand(entry(config=FrozenDict(config), **place)).scripts()
    assert found == tuple(os.path.normpath(project / name) for name in expected)


# -- what is named, and not run ----------------------------------------------------------------------------------------


@pytest.fixture
def full(project):
    """A project in which there already is every file that the commands below name, but for those called ``gone``."""
    for name in (
        "notes.md",
        "package.json",
        "calls.log",
        "calls.txt",
        "check.ts",
        ".prettierrc",
        "policy.jq",
        "bin/ruff",
    ):
        file = project / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("")
    (project / "hooks/test").write_text("")
    own = project.parent / "home/.claude"
    own.mkdir()
    (own / "bash-command-log.txt").write_text("")
    return project


def runs(command, project) -> list[str]:
    place = {"project_dir": str(project), "directory": str(project), "form": "claude", "source": "project"}
    config = command if isinstance(command, dict) else {"command": command}
    return [os.path.relpath(path, project) for path in HookCommand(entry(config=FrozenDict(config), **place)).scripts()]


@pytest.mark.parametrize(
    "command",
    [
        # Loggers.
        "cat | head -c 20 >> ~/.claude/bash-command-log.txt",
        "jq -r '.tool_input.command' >> ~/.claude/bash-command-log.txt",
        "jq -c . | tee -a calls.txt",
        "jq -c . | tee -a calls.txt > /dev/null",
        "cat > calls.txt",
        "cat 2>>calls.txt >/dev/null",
        "{ date; cat; } &> calls.txt",
        'LOG="$CLAUDE_PROJECT_DIR"/calls.txt; echo "$(date): done" >> "$LOG"',
        "export LOG=calls.txt; mkdir -p hooks; cat >> ${LOG}",
        "tail -n 5 calls.txt >&2",
        "jq -c . >> calls.txt; tail -5 calls.txt | jq -s length",
        "mv calls.log old.log; cat >> calls.log",
        "curl -s -o calls.txt https://example.org",
        "some-logger --output calls.txt --log-file=calls.log",
        # Looks.
        "if [ -f package.json ]; then ls; fi",
        "[[ -e package.json && -f notes.md ]] || exit 0",
        "test -f package.json && head -50 notes.md",
        "cat notes.md package.json",
        "grep -q name package.json && exit 2",
        "wc -l notes.md; ls -l package.json; stat notes.md",
        "jq -r .name package.json",
        "awk '{print $1}' notes.md; sed -n 1,5p notes.md",
        "bash -c 'cat notes.md'",
        "python3 -m json.tool package.json",
        # Words.
        'echo "Look at notes.md and package.json" >&2',
        "printf %s notes.md",
        "cat <<EOF\nRead notes.md, then package.json.\nEOF",
        "cat <<< notes.md",
        'notify-send "Claude" "notes.md is done"',
        # Formatters and linters.
        "npx prettier --write notes.md",
        "npx -y markdownlint-cli2 --fix notes.md",
        "uvx ruff format tools.py && ruff check --fix tools.py",
        "jq -r .tool_input.file_path | xargs -r npx prettier --write",
        "black -q tools.py; gofmt -w notes.md; sed -i s/a/b/ notes.md",
        "rm -f notes.md; touch calls.txt",
        {"command": ["prettier", "--write", "notes.md"]},
        {"command": ["tee", "-a", "calls.txt"]},
        {"command": "cat", "args": ["notes.md"]},
    ],
)
def test_what_a_command_only_reads_tests_says_or_writes_is_no_script(command, full):
    assert runs(command, full) == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python3 hooks/check.sh --log calls.log calls.log", ["hooks/check.sh"]),
        ("uv run tools.py", ["tools.py"]),
        ("uv run --with requests tools.py", ["tools.py"]),
        ("bun run check.ts", ["check.ts"]),
        ("timeout 5 env X=1 hooks/check.sh", ["hooks/check.sh"]),
        ("cat notes.md | hooks/check.sh", ["hooks/check.sh", "notes.md"]),
        ("hooks/check.sh >> calls.txt 2>&1 || true", ["hooks/check.sh"]),
        ("if [ -f package.json ]; then sh hooks/check.sh; fi", ["hooks/check.sh", "package.json"]),
        ("git diff --quiet package.json", ["package.json"]),
        ("exec 9> calls.log; sudo; hooks/check.sh", ["hooks/check.sh"]),
        ("cp notes.md docs", ["notes.md"]),
        ("hooks/test package.json", ["hooks/test", "package.json"]),
        ("bin/ruff check tools.py", ["bin/ruff"]),
        ("npx prettier --config .prettierrc --write notes.md", [".prettierrc"]),
        ("cat <<EOF > calls.txt\nx\nEOF\nhooks/check.sh", ["hooks/check.sh"]),
        ("3< notes.md hooks/check.sh 2> calls.txt", ["hooks/check.sh", "notes.md"]),
    ],
)
def test_what_a_command_runs_beside_that_is_a_script(command, expected, full):
    assert runs(command, full) == expected


@pytest.mark.parametrize(
    "command",
    [
        "cat tools.py | python3",
        "cat tools.py | sh -s now",
        "cat tools.py | tee calls.txt | bash",
        "cat tools.py | (cd hooks; sh)",
        'grep -v x tools.py | while read -r line; do eval "$line"; done',
        "while read -r line; do $line; done < tools.py",
        "sh < tools.py",
        "sh /dev/fd/3 3< tools.py",
        ". ./tools.py",
        "source tools.py",
        "source <(cat tools.py)",
        'eval "$(cat tools.py)"',
        "eval `cat tools.py`",
        'bash -c "$(cat tools.py)"',
        "X=$(cat tools.py); $X",
        "echo tools.py | xargs sh",
        "printf tools.py | xargs -I{} {}",
        "ls tools.py | parallel sh",
        "xargs sh < tools.py",
        'set -- tools.py; sh "$@"',
        "[ -f tools.py ] && sh $_",
        "X=tools.py; bash $X",
        'X=(sh tools.py); "${X[@]}"',
        "X=./tools.py; $X",
        "X=tools.py ./gone/program",
        "cat tools.py > calls.txt && sh calls.txt",
        "mv tools.py calls.txt && sh calls.txt",
        "cp tools.py /tmp/made && /tmp/made",
        "python3 -c \"exec(open('tools.py').read())\"",
        "node -e \"require('child_process').execFileSync('./tools.py')\"",
        "python3 - <<EOF\nimport runpy; runpy.run_path('tools.py')\nEOF",
        "bash <<EOF\n./tools.py\nEOF",
        "bash <<< ./tools.py",
        "cat <<EOF | sh\n./tools.py\nEOF",
        "make -f tools.py",
        "awk -f tools.py",
        "sed '1e ./tools.py' notes.md",
        "rg --pre ./tools.py x",
        "ssh -o 'ProxyCommand ./tools.py' host",
        "git -c core.pager=./tools.py log",
        "git bisect run ./tools.py",
        "find hooks -exec ./tools.py {} +",
        "some-program tools.py",
        "trap ./tools.py EXIT",
        "f() { sh tools.py; }; f",
        "case x in x) sh tools.py;; esac",
        "nohup ./tools.py > calls.txt &",
        "tee calls.txt | ./tools.py",
        "touch tools.py; sh tools.py",
        {"command": ["bash", "-c", "cat tools.py | sh"]},
        {"command": ["xargs", "-a", "tools.py", "sh"]},
    ],
)
def test_what_is_run_without_being_a_program_is_a_script(command, full):
    assert "tools.py" in runs(command, full)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ({"command": ["python3", "hooks/gone.py"]}, ["hooks/gone.py"]),
        ("./gone.sh", ["gone.sh"]),
        ("[ -f hooks/gone.sh ] && sh hooks/gone.sh; exit 0", ["hooks/gone.sh"]),
        ('"$CLAUDE_PROJECT_DIR"/gone.sh', ["gone.sh"]),
        ("X=gone.sh; bash -e $X", ["gone.sh"]),
        (". ./gone.env", ["gone.env"]),
        ("uv run gone.py", ["gone.py"]),
        ("bash -c 'node gone.js'", ["gone.js"]),
        ("cd hooks && ./gone.sh", ["gone.sh", "hooks/gone.sh"]),
        ("~/gone.sh", ["../home/gone.sh"]),
        ('python3 -c "import gone"', []),
        ("hooks/check.sh", []),
        ("cat gone.sh", []),
        ("[ -f gone.sh ] && ls", []),
        ("cat > gone.sh; sh gone.sh", ["gone.sh"]),
        ("[ -f gone.sh ] || cp tools.py gone.sh; sh gone.sh", ["gone.sh"]),
        ("cat > /tmp/gone.sh; sh /tmp/gone.sh", []),
        ("some-program gone.sh", []),
        ("hooks/$X.sh; deno run https://example.org/gone.ts", []),
        ("/usr/bin/gone", []),
        ("python3 -m gone; python3 --version; node", []),
        ('python3 -c "import json, sys"', []),
    ],
)
def test_where_a_script_would_be_that_is_not_there_is_known(command, expected, full):
    place = {"project_dir": str(full), "directory": str(full), "form": "claude", "source": "project"}
    config = command if isinstance(command, dict) else {"command": command}
    found = HookCommand(entry(config=FrozenDict(config), **place)).missing()
    assert [os.path.relpath(path, full) for path in found] == expected


@pytest.mark.parametrize(
    ("command", "covered"),
    [
        ("BASH_ENV=tools.py bash -c true", True),
        ("env BASH_ENV=tools.py bash -c 'cat notes.md'", True),
        ("export ENV=tools.py; sh -c 'cat notes.md'", True),
        ("LD_PRELOAD=./tools.py ls", True),
        ("env LD_PRELOAD=./tools.py ls", True),
        ('NODE_OPTIONS="-r ./tools.py" eslint .', True),
        ("RIPGREP_CONFIG_PATH=tools.py rg x", True),
        ('LIST=tools.py; grep -q x "$LIST"', False),
        ("LANG=tools.py cat notes.md", False),
    ],
)
def test_a_variable_by_which_a_reading_program_runs_a_file_covers_it(command, covered, full):
    assert ("tools.py" in runs(command, full)) is covered


@pytest.mark.parametrize(
    ("command", "covered"),
    [
        ("eslint -c tools.py .", True),
        ("jest -c tools.py", True),
        ("mocha -r ./tools.py", True),
        ("pytest -c tools.py", True),
        ("python3 -m pytest -c tools.py", True),
        ("mypy --config-file tools.py src", True),
        ("rustfmt --config-path=tools.py", True),
        ("wc -c tools.py", False),
        ("sort -r tools.py", False),
        ("eslint tools.py", False),
    ],
)
def test_a_checker_is_covered_with_its_configuration(command, covered, full):
    assert ("tools.py" in runs(command, full)) is covered


def test_a_script_that_was_not_there_may_not_run(project):
    of_one = entry(scripts=FrozenDict({str(project / "gone.sh"): ""}))
    assert check_scripts(of_one) == {}
    (project / "gone.sh").write_text("")
    with pytest.raises(TrustError, match=r"gone\.sh was not there"):
        check_scripts(of_one)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"command": 'python3 -c "import json, sys; sys.exit(0)"'}, True),
        ({"command": ["python3", "-Bc", "import yaml"]}, True),
        ({"command": "cat | python3 -c 'print()' || exit 2"}, True),
        ({"command": 'python3 -c "import tools"'}, False),
        ({"command": 'python3 -c "from hooks import tools; import subprocess; subprocess.run([])"'}, False),
        ({"command": 'python3 -c "print()" && python3 tools.py'}, True),
        ({"command": 'python3 -c "print()" && python3 -m pytest'}, False),
        ({"command": 'python3 -c "print()" && some-program'}, True),
        ({"command": "python3 tools.py"}, False),
        ({"command": "node -e 1"}, False),
        ({"command": "python3 - <<'E'\nimport json\nE"}, True),
        ({"command": '/usr/bin/env python3 - "$1" <<E\nimport json\nE'}, True),
        ({"command": "x=$(python3 <<'E'\nimport json\nE\n); exit $x"}, True),
        ({"command": "python3 <<< 'import json'"}, True),
        ({"command": "python3 -m json.tool | grep -q x && exit 2"}, True),
        ({"command": "python3 <<'E'\nimport tools\nE"}, False),
        ({"command": "python3 <<E\n$(cat tools.py)\nE"}, True),
        ({"command": "python3 <<'E' 0< tools.py\nimport json\nE"}, True),
        ({"command": "printf 'import json' | python3 -"}, True),
        ({"command": "python3 -m unittest"}, False),
    ],
)
def test_what_python_code_needs_of_its_folder_is_known(config, expected, project):
    place = {"project_dir": str(project), "directory": str(project), "form": "claude", "source": "project"}
    assert bool(python_variables(entry(config=FrozenDict(config), **place))) is expected


@pytest.mark.parametrize(
    "command",
    [
        "python3 - <<'E'\nimport os\nos.system('bash tools.py now')\nE",
        "python3 -c \"import subprocess; subprocess.run('bash tools.py', shell=True)\"",
        "python3 - <<'E'\nimport os\nos.system('''\nset -e\nbash tools.py\n''')\nE",
        'node -e \'require("child_process").execSync("bash tools.py")\'',
        "node --eval='require(\"./tools.py\")'",
        "perl -e 'system(\"./tools.py --strict\")'",
        "perl -e 'print qx(sh tools.py)'",
        "perl -I. -e 'require \"tools.py\"'",
        "ruby -e 'puts %x(sh tools.py)'",
        "lua -e 'dofile(\"tools.py\")'",
        "awk 'BEGIN { \"bash tools.py\" | getline x }'",
        "awk '{ print | \"sh tools.py\" }'",
        "cat <<E\n$(sh tools.py)\nE",
    ],
)
def test_what_code_within_a_command_runs_is_a_script(command, full):
    (full / "tools.js").write_text("")
    assert {"tools.py", "tools.js"}.intersection(runs(command, full))


def test_a_script_that_the_command_makes_itself_may_run_once_it_is_there(project):
    made = {"scripts": FrozenDict({str(project / "made.sh"): ""}), "project_dir": str(project)}
    (project / "made.sh").write_text("")
    config = FrozenDict({"command": "[ -f made.sh ] || cp tools.py made.sh; sh made.sh"})
    assert check_scripts(entry(config=config, directory=str(project), **made)) == {}


def test_large_files_of_others_are_not_scripts(project):
    with (project.parent / "foreign.sh").open("wb") as file:
        file.truncate(1024 * 1024 + 1)
    place = {"project_dir": str(project), "directory": str(project)}
    assert HookCommand(entry(config={"command": "../foreign.sh"}, **place)).scripts() == ()


def test_a_link_out_of_the_project_is_a_script_of_it(project, tmp_path):
    (project / "linked.sh").symlink_to(tmp_path / "foreign.sh")
    place = {"project_dir": str(project), "directory": str(project)}
    found = HookCommand(entry(config={"command": "linked.sh"}, **place)).scripts()
    assert found == (str(project / "linked.sh"),)


def test_a_plugins_script_is_found_by_its_root(project):
    place = {"plugin_root": str(project), "project_dir": str(project), "directory": str(project)}
    found = HookCommand(entry(config={"command": '"${CLAUDE_PLUGIN_ROOT}"/hooks/check.sh'}, **place)).scripts()
    assert found == (str(project / "hooks/check.sh"),)


def doubts(config, project) -> list[tuple[str, str]]:
    """The kind of each doubt, and what it is about."""
    place = {"project_dir": str(project), "directory": str(project)}
    findings = HookCommand(entry(config=FrozenDict(config), **place)).findings()
    return [(found.kind, found.message.split("`")[1]) for found in findings]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("$HOOKS/check.sh", "$HOOKS/check.sh"),
        ('"$HOOKS"/check.sh', "$HOOKS/check.sh"),
        ('python3 "${HOOKS:-hooks}/check.py"', "${HOOKS:-hooks}/check.py"),
        ('"$(dirname "$0")/check.sh"', "$(…)/check.sh"),
        ("$(dirname $0)/check.sh", "$(…)/check.sh"),
        ("`dirname $0`/check.sh", "$(…)/check.sh"),
        ("echo $(sh $X/y)", "$X/y"),
        ("for each in hooks/*.sh; do sh $each; done", "hooks/*.sh"),
        ("cat hooks/check.s? | sh", "hooks/check.s?"),
        ("find hooks -exec sh {} +", "find hooks -exec sh"),
        ("bun run check", "bun run"),
        ("npm test", "npm test"),
        ("sh hooks/[c]heck.sh", "hooks/[c]heck.sh"),
        ("true\nsource $HOOKS/env", "$HOOKS/env"),
        ("X=$Y/z tools.py", "X=$Y/z"),
        ("bash -c '$HOOKS/check.sh now'", "$HOOKS/check.sh"),
        ("bash -ec 'make'", "make"),
        ("eval '$HOOKS/check.sh'", "$HOOKS/check.sh"),
        ("make check", "make"),
        ("cd hooks && just check", "just"),
        ("if true; then npm run check; fi", "npm run"),
        ("X=1 /usr/bin/make", "make"),
    ],
)
def test_a_file_that_only_running_a_command_would_name_is_a_doubt(command, expected, project):
    assert doubts({"command": command}, project) == [("not-covered", expected)]


@pytest.mark.parametrize(
    "command",
    [
        '"$CLAUDE_PROJECT_DIR"/hooks/check.sh "$1"',
        '"${CLAUDE_PROJECT_DIR:-.}"/hooks/check.sh',
        '"$(git rev-parse --show-toplevel)"/hooks/check.sh',
        "$PWD/hooks/check.sh > $TMPDIR/log 2>/dev/null",
        "jq -r '.tool_input.file_path // \"$x\"'",
        "grep -qE '^src/.*$' || exit 2",
        'grep -q "^src/.*"',
        'echo "$X is in a/b" >&2; exit 2',
        "curl https://example.org/?q=$X",
        'case "$X" in */migrations/*) exit 2;; esac',
        "sh hooks/check.sh # of $HOOKS/check.sh, isn't it",
        "echo \\$X/y",
        "python3 -m json.tool",
        "git commit -m hooks",
        "npm ci",
        "cd hooks && ./check.sh",
        "X=a/b; ./hooks/check.sh",
        "~/mine.sh",
        'cat "$X"/y',
        "bun run hooks/check.sh",
        "sed s/a/b/ tools.py > $TMPDIR/made.sh && cat $TMPDIR/made.sh",
        "cp hooks/check.sh made.sh && sh made.sh",
        "",
    ],
)
def test_a_command_that_says_what_it_runs_leaves_no_doubt(command, project):
    assert doubts({"command": command}, project) == []


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"command": ["bash", "-c", "$HOOKS/check.sh"]}, [("not-covered", "$HOOKS/check.sh")]),
        ({"command": "make", "args": ["check"]}, [("not-covered", "make")]),
        ({"command": ["grep", "-E", "^src/.*$X"]}, []),
        ({"command": ["hooks/gone.sh"]}, [("missing", "hooks/gone.sh")]),
        ({"command": ["python3", "hooks/gone.py"]}, [("missing", "hooks/gone.py")]),
        ({"command": "bash -eu hooks/gone.sh now"}, [("missing", "hooks/gone.sh")]),
        ({"command": ["uv", "run", "hooks/gone.py"]}, [("missing", "hooks/gone.py")]),
        ({"command": ["hooks/check.sh", "data/later.txt"]}, []),
        ({"command": "hooks/gone.sh --fast"}, [("missing", "hooks/gone.sh")]),
        ({"command": '"$CLAUDE_PROJECT_DIR"/gone.sh'}, [("missing", "$CLAUDE_PROJECT_DIR/gone.sh")]),
        ({"command": "true && ./gone.sh"}, [("missing", "./gone.sh")]),
        ({"command": "/no/such/program"}, [("missing", "/no/such/program")]),
        ({"command": "$HOOKS/a; $HOOKS/a"}, [("not-covered", "$HOOKS/a")]),
        ({"command": ["a\0b/c", 5]}, []),
        ({}, []),
    ],
)
def test_doubts_are_about_what_runs_in_either_form(config, expected, project):
    assert doubts(config, project) == expected


@pytest.mark.once
@pytest.mark.parametrize(
    "text",
    [
        "$(" * 40_000,
        "`" * 100_000,
        "${PWD:-" * 15_000,
        "'" + "$/" * 50_000,
        "a/$b " * 20_000,
        "-m a " * 20_000,
        "perl -e 'exec " + "qx(" * 20_000 + "'",
        "python3 - <<E\nexec " + "$(" * 20_000 + "\nE",
        "sh -c " * 20_000,
    ],
)
def test_no_command_is_looked_through_for_long(text, project):
    start = monotonic()
    place = {"project_dir": str(project), "directory": str(project)}
    HookCommand(entry(config=FrozenDict({"command": text}), **place)).findings()
    assert monotonic() - start < 5


@pytest.mark.parametrize(
    ("command", "covered"),
    [
        ("LOG=.claude/log.txt ./x.sh", ["x.sh"]),
        ("export LOG=.claude/log.txt; ./x.sh", ["x.sh"]),
        ("LOG=.claude/log.txt; sh $LOG", [".claude/log.txt"]),
        ("RUN=./x.sh make", ["x.sh"]),
        ("s=$(<.claude/state); echo $s", []),
        ('kill "$(<x.pid)"', []),
        ("bash < x.sh", ["x.sh"]),
    ],
)
def test_what_grows_is_covered_only_where_it_is_run(tmp_path, command, covered):
    (tmp_path / ".claude").mkdir()
    for name in (".claude/log.txt", ".claude/state", "x.sh", "x.pid"):
        (tmp_path / name).write_text("true\n")
    entry = HookEntry(
        event=HookEvent.BEFORE_TOOL_USE,
        type="command",
        config={"command": command},
        path=str(tmp_path / "agent-hooks.toml"),
        directory=str(tmp_path),
        project_dir=str(tmp_path),
        source="project",
    )
    found = HookCommand(entry).scripts()
    assert [os.path.relpath(path, tmp_path) for path in found] == covered


def test_an_entry_adds_files_and_takes_others_away(full):
    config = {"command": "hooks/check.sh notes.md package.json", "scripts": ["tools.py"], "ignore": ["notes.md"]}
    assert runs(config, full) == ["hooks/check.sh", "package.json", "tools.py"]


def test_a_script_runs_as_it_was_trusted_and_no_other(project):
    script = project / "hooks" / "check.sh"
    of_one = entry(scripts=FrozenDict({str(script): sha256(script.read_bytes()).hexdigest()}))
    assert check_scripts(of_one) == {str(script): script.read_bytes()}
    script.write_text("#!/bin/sh\nexit 2\n")
    with pytest.raises(TrustError, match=r"check\.sh has changed since it was trusted"):
        check_scripts(of_one)
    script.unlink()
    with pytest.raises(TrustError, match=r"check\.sh, which was trusted, cannot be read"):
        check_scripts(of_one)
