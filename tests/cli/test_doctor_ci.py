"""``agent-hooks doctor --ci``: other people's files are checked and annotated, and nothing of them runs."""

from __future__ import annotations

import json

import pytest

from projects import HOOKCONF, denying, settings, toml


@pytest.fixture
def doctor(command, project):
    """What it says of the project with these files."""

    def ask(files, *options, **environment):
        return command("doctor", "--ci", *options, cwd=project.write(files).root, env=environment)

    return ask


def test_an_untrusted_project_without_mistakes_is_no_error(doctor):
    files = {
        "agent-hooks.toml": 'known_tools = ["Frobnicate"]\n' + toml(denying("no"), matcher="Frobnicate"),
        "hookconf.py": HOOKCONF,
        ".claude/settings.json": settings("PreToolUse", denying("no"), matcher="Bash"),
        "pyproject.toml": '[tool.agent_hooks.guards]\nblocklist = "of a plugin that is not asked"\n',
        ".claude/skills/one/SKILL.md": "---\nname: one\nhooks:\n  Stop:\n    - hooks:\n"
        "        - {type: prompt, prompt: x}\n---\n",
    }
    done = doctor(files)
    assert done.exit_code == 0
    assert done.said.endswith("0 errors, 1 warning, 5 files with hooks or settings.\n")
    assert "[tool.agent_hooks.guards] is not checked: no installed plugin has settings of this name." in done.said


@pytest.mark.parametrize(
    ("files", "line", "says"),
    [
        ({"agent-hooks.toml": toml("x", "PreToolUze")}, 1, "Did you mean 'PreToolUse'?"),
        ({"agent-hooks.toml": toml("", handler='type = "comand"')}, 2, "Did you mean 'command'?"),
        ({"agent-hooks.toml": toml("", handler='type = "command"\ncomand = "x"')}, 2, "Did you mean 'command'?"),
        ({"agent-hooks.toml": toml("python3 hooks/x.py")}, 2, "there is no such file"),
        ({"agent-hooks.toml": toml("true", matcher="shel")}, 3, "Did you mean 'shell'?"),
        ({"agent-hooks.toml": "= 1"}, 1, "It is not TOML"),
        ({"pyproject.toml": "[tool.agent_hook]\n"}, 1, "Write [tool.agent_hooks]."),
        ({".claude/settings.json": settings("PreToolUze", "true")}, 3, "'PreToolUze'"),
        ({"hookconf.py": "agent_hooks_plugins = ['more']", "more.py": "\n("}, 2, "It is not Python"),
        ({"sub/hookconf.py": HOOKCONF.replace("tool_call", "tool_cal")}, 5, "Did you mean 'tool_call'?"),
        ({"SKILL.md": "---\nhooks:\n  PreToolUse: [{hooks: 1}]\n---\n"}, 3, "must be a list"),
    ],
)
def test_a_hook_that_could_not_be_honoured_is_an_error_on_its_line(doctor, files, line, says):
    done = doctor(files)
    (first, last) = done.stdout.splitlines()
    path = next(reversed(files))
    assert (done.exit_code, first.startswith(f"{path}:{line}: error: "), says in first) == (1, True, True), done
    assert last == f"1 error, 0 warnings, {len(files)} file{'s' * (len(files) > 1)} with hooks or settings."


def test_a_warning_is_shown_and_is_no_error(doctor):
    done = doctor({"agent-hooks.toml": "disabled = ['x']\n" + toml("true", handler='type = "words"')})
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "0 errors, 1 warning, 1 file with hooks or settings.")
    assert done.stdout.startswith("agent-hooks.toml:1: warning: A project may only tighten")


def test_github_annotates_the_line_and_no_text_of_the_project_is_a_command_of_its_own(doctor, project):
    name = "::error a,b:c%"
    (project.root / name).mkdir()
    done = doctor({f"{name}/agent-hooks.toml": toml("x", '"PreToolUze%0"')}, "--format", "github")
    first, last = done.stdout.splitlines()
    start = "::error file=%3A%3Aerror a%2Cb%3Ac%25/agent-hooks.toml,line=1,title=agent-hooks%3A unknown-event::"
    assert (done.exit_code, first.startswith(f"{start}There is no event 'PreToolUze%250'")) == (1, True), done
    assert last.startswith("1 error")
    text = doctor({}).stdout
    assert text.startswith(f"{name.replace('::', chr(92) + 'x3a:', 1)}/agent-hooks.toml:1: error: ")


@pytest.mark.parametrize("name", [" ::stop-commands::x", "a##[stop-commands]y"])
def test_no_line_for_people_is_a_command_either(doctor, project, name):
    (project.root / name).mkdir()
    text = doctor({f"{name}/agent-hooks.toml": toml("x", '"PreToolUze"')}).stdout
    assert "PreToolUze" in text
    assert not any(line.lstrip().startswith("::") or "##[" in line for line in text.splitlines())


def test_paths_of_annotations_begin_at_the_checkout(doctor, project):
    files = {"agent-hooks.toml": toml("x", "PreToolUze")}
    done = doctor(files, "--format", "github", GITHUB_WORKSPACE=str(project.root.parent))
    assert done.stdout.startswith(f"::error file={project.root.name}/agent-hooks.toml,line=1,")


def test_programs_read_the_same(doctor):
    done = doctor({"hookconf.py": HOOKCONF.replace("tool_call", "tool_cal")}, "--json")
    (finding,) = done.json["findings"]
    assert (done.exit_code, done.json["errors"], finding["line"], finding["severity"]) == (1, 1, 5, "error")


def test_neither_the_project_nor_a_plugin_nor_the_users_files_run_or_count(command, doctor, tmp_path):
    command.forks = False  # which has imported much before
    mark = tmp_path / "ran"
    run = f"open({str(mark)!r}, 'a').close()"
    command.install(run)
    command.configure(toml(["touch", str(mark)], "PreToolUze"))
    (command.config / "hookconf.py").write_text(run)
    marking = ["touch", str(mark)]
    files = {
        "agent-hooks.toml": toml(marking, "session_start"),
        ".claude/settings.json": settings("SessionStart", f"touch {mark}"),
        "hookconf.py": f"{run}\n",
        "agent_hooks.py": run,
    }
    done = doctor(files)
    assert (done.exit_code, mark.exists()) == (0, False), done


@pytest.mark.parametrize(
    "options",
    [["--ci", "--fire"], ["--ci", "claude-code"], ["--ci", "-p", "x"], ["--format", "github"], ["--ci", "a", "b"]],
)
def test_options_that_would_run_something_are_refused_with_it(command, options):
    assert command("doctor", *options).exit_code == 2


def test_each_finding_is_in_json_as_in_the_other_doctor(command, project):
    project.write({"agent-hooks.toml": toml("x", "PreToolUze")})
    (of_ci,) = command("doctor", "--ci", "--json", cwd=project.root).json["findings"]
    of_both = json.loads(command("doctor", "--json", cwd=project.root).stdout)["findings"]
    assert of_ci["id"] in [finding["id"] for finding in of_both]
