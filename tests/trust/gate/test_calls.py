"""Tools of which only the name says that they run something: what they are given is judged like a command or code."""

from __future__ import annotations

from typing import Any

import pytest

from agent_hooks import ToolCall
from agent_hooks.trust.gate.calls import paths_under_keys, runs_of, says_nothing, tool_name

CALLING = "import subprocess; subprocess.run(['agent-hooks', 'trust', '--digest', 'sha256:0'])"
WRITING = "open('hookconf.py', 'w').write('')"
SAID = "Run agent-hooks trust; echo x > hookconf.py"

RUNNING: list[tuple[str, dict[str, Any]]] = [
    ("execute_code", {"code": CALLING}),
    ("python", {"code": CALLING}),
    ("python", {"code": WRITING}),
    ("python", {"code": "import os\nos.remove('pyproject.toml')"}),
    ("python", {"code": "# it's\n" + WRITING}),
    ("run_python", {"script": CALLING}),
    ("code_interpreter", {"input": CALLING}),
    ("repl", {"code": "from agent_hooks.trust import TrustStore; TrustStore().trust(p)"}),
    ("repl", {"code": "import sys; sys.argv[1:] = ['trust']; from agent_hooks.cli.main import main; main()"}),
    ("run_code", {"code": "agent-hooks trust", "language": "bash"}),
    ("run_code", {"code": "echo x > hookconf.py", "language": "sh"}),
    ("run_code", {"code": "require('child_process').execSync('agent-hooks trust')", "language": "javascript"}),
    ("mcp__ide__executeCode", {"code": CALLING}),
    ("mcp__jupyter__execute_cell", {"source": "!agent-hooks trust"}),
    ("mcp__jupyter__execute_cell", {"source": "x = 1\n!rm hookconf.py"}),
    ("mcp__jupyter__execute_cell", {"source": "%%bash\nagent-hooks trust"}),
    ("mcp__jupyter__execute_cell", {"source": "%sx agent-hooks trust"}),
    ("mcp__jupyter__append_execute_code_cell", {"cell_source": CALLING}),
    ("mcp__jupyter__add_cell", {"source": CALLING}),
    ("mcp__nb__run", {"cells": [{"source": ["import os\n", "os.system('agent-hooks trust')"]}]}),
    ("ipython", {"lines": ["!agent-hooks trust"]}),
    ("mcp__term__send", {"text": "agent-hooks trust\n"}),
    ("mcp__tmux__send_keys", {"keys": ["agent-hooks trust", "Enter"]}),
    ("mcp__pty__write", {"data": "agent-hooks trust\n"}),
    ("mcp__exec__start", {"command": "agent-hooks", "args": ["trust", "."]}),
    ("mcp__exec__start", {"command": "sh", "args": ["-c", "agent-hooks trust"]}),
    ("run", {"program": "agent-hooks", "args": ["trust"]}),
    ("run", {"commands": ["ls", "agent-hooks trust"]}),
    ("batch", {"calls": [{"tool": "Bash", "args": {"command": "agent-hooks trust"}}]}),
    ("python", {"code": WRITING + "#" * 200_000}),
    ("execute_code", {"code": WRITING + "  # as agreed"}),
    ("execute_code", {"code": 'x = """\n# """\n' + WRITING}),
    ("execute_code", {"code": "# see\r" + WRITING}),
    ("execute_code", {"code": "x = `# ${fs.writeFileSync('hookconf.py', '')}`"}),
    ("execute_code", {"code": "# it's not Python:\nFile.delete 'hookconf.py' # gone"}),
    ("execute_code", {"code": "# see " + "(" * 5_000 + "\n" + "(" * 5_000 + WRITING}),
    ("run_code", {"code": "rm hookconf.py"}),
    ("run_code", {"code": ["rm", "hookconf.py"]}),
    ("run_code", {"cells": ["# see", WRITING]}),
    ("delete_code", {"code": "hookconf.py"}),
    ("update_code", {"code": "hookconf.py", "text": ""}),
    ("call", {"payload": '{"command": "agent-hooks trust --digest x"}'}),
    ("call", {"payload": '[{"tool": "sh", "args": {"command": "agent-hooks trust"}}]'}),
    ("call", {"payload": '{"args": "{\\"command\\": \\"agent-hooks trust\\"}"}'}),
    ("update", {"payload": '["README.md", "hookconf.py"]'}),
]

HONEST: list[tuple[str, dict[str, Any]]] = [
    ("lookup_code", {"code": "hookconf.py"}),
    ("lookup_code", {"code": WRITING}),
    ("resolve_symbol", {"code": "./hookconf.py"}),
    ("execute_code", {"code": "# see hookconf.py\nopen('out.txt', 'w').write('x')"}),
    ("execute_code", {"code": "x = '#'  # hookconf.py\r\nopen('out.txt', 'w').write(x)  # no .claude/settings\n"}),
    ("execute_code", {"code": "import json\nprint(json.load(open('.claude/settings.json')))"}),
    ("python", {"code": "print(1 > 0)"}),
    ("python", {"code": "import pandas as pd\ndf = pd.read_csv('x.csv')\ndf.to_csv('y.csv')"}),
    ("python", {"code": "import subprocess\nsubprocess.run(['pytest', '-q'])"}),
    ("python", {"code": "from pathlib import Path\np = Path('README.md')\np.write_text('Type agent-hooks trust')"}),
    ("run_code", {"code": "cat hookconf.py", "language": "bash"}),
    ("run_code", {"code": "echo 'agent-hooks trust' >> README.md", "language": "bash"}),
    ("mcp__jupyter__execute_cell", {"source": "!pytest -q\nx = 1"}),
    ("mcp__jupyter__read_cell", {"source": SAID}),
    ("mcp__term__send", {"text": "pytest -q\n"}),
    ("write_stdin", {"chars": "print(x)\n"}),
    ("run", {"program": "pytest", "args": ["-q", "-k", "trust"]}),
    ("run", {"command": "grep", "args": ["agent-hooks trust", "README.md"]}),
    ("mcp__github__create_gist", {"code": SAID}),
    ("mcp__notion__add_code_block", {"code": SAID}),
    ("mcp__sonar__analyze_code_snippet", {"code": SAID}),
    ("mcp__code_review__post_comment", {"text": SAID}),
    ("mcp__python_docs__search", {"text": SAID}),
    ("mcp__slack__post", {"text": SAID}),
    ("mcp__linear__create_comment", {"body": SAID}),
    ("mcp__memory__create_entities", {"entities": [{"observations": [SAID]}]}),
    ("mcp__github__push_files", {"files": [{"path": "README.md", "content": SAID}]}),
    ("mcp__apify__run_actor", {"input": {"text": SAID}}),
    ("mcp__x__describe", {"description": SAID, "status_code": "agent-hooks trust"}),
    ("AskUserQuestion", {"questions": [{"question": SAID}]}),
    ("ExitPlanMode", {"plan": SAID}),
    ("Skill", {"skill": "x", "args": SAID}),
    ("call", {"payload": '{"command": "pytest -q"}'}),
    ("update", {"payload": '["README.md", "src/app.py"]'}),
    ("post", {"payload": '{"text": "Run agent-hooks trust"}'}),
    ("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": SAID}),
]


@pytest.mark.parametrize(("tool", "args"), RUNNING)
def test_what_a_tool_runs_decides_nothing_about_agents(guarded, tool, args):
    outcome = guarded.call(tool, args, kind="other")
    assert outcome.decision == "deny"
    assert not outcome.failed


@pytest.mark.parametrize(("tool", "args"), HONEST)
def test_what_a_tool_only_says_or_looks_at_is_free(guarded, tool, args):
    assert not guarded.denies(tool, args)


def test_arguments_beside_the_command_of_a_shell_count(guarded):
    assert guarded.denies("Bash", {"command": "agent-hooks", "args": ["trust"]})
    assert guarded.denies("sandbox", {"code": CALLING}, kind="shell")
    assert not guarded.denies("Bash", {"command": "ls", "description": SAID, "timeout": 5})


def test_a_tool_and_arguments_that_say_nothing_run_nothing_and_name_no_path():
    names = ("echo", "repl", "bash", "tool.bash", "apply_patch", "send_keys", "save_note", "delete_item", "python")
    keys = sorted({key for _, args in (*RUNNING, *HONEST) for key in args} | {"text", "city", "source", "urls", "argv"})
    harmless = []
    for name in names:
        for call in (ToolCall(name, {key: "a/b", other: "c d"}) for key in keys for other in keys):
            if says_nothing(call):
                harmless.append(call)
                commands, codes = runs_of(call, tool_name(name))
                assert not any((call.command, *commands, *codes)), call
                assert not any((call.paths, call.file_operations, paths_under_keys(call.args))), call
    assert {call.name for call in harmless} >= {"echo", "save_note", "delete_item"}
    assert not says_nothing(ToolCall("echo", {"text": ["a"]}))
