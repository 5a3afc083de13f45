"""Commands, files and addresses of everyday work, which the guards at their defaults leave alone.

Dangerous text in them is data: a commit's message, a file for later, what is searched for.
"""

from __future__ import annotations

import pytest
from making import about

from agent_hooks_guards import ShellGuard
from agent_hooks_guards.guards.egress import EgressGuard
from agent_hooks_guards.guards.path import PathGuard
from agent_hooks_guards.guards.secrets import SecretsGuard
from agent_hooks_guards.places.paths import Place
from tables import tables

PLACE = Place("/home/dev/project", "/home/dev", "/home/dev/project")

TABLES = tables(__file__)
HONEST = [
    *((topic, line) for topic, text in TABLES["lines"].items() for line in text.splitlines()),
    *((topic, text.strip("\n")) for topic, texts in TABLES["scripts"].items() for text in texts),
]


@pytest.fixture(scope="module")
def guard():
    return ShellGuard()


@pytest.mark.parametrize(("topic", "command"), HONEST, ids=[f"{topic} {at}" for at, (topic, _) in enumerate(HONEST)])
def test_an_honest_command_is_let_through(guard, topic, command):
    assert [(decision, verdict.rule.id) for decision, verdict in guard.decide(command, PLACE)] == []


READ = """
README.md src/app.py ../other/README.md .env.example .env.template src/.env.ts /etc/hosts /etc/os-release
/usr/include/stdio.h .venv/lib/python3.12/site-packages/certifi/cacert.pem node_modules/react/index.js
node_modules/tls/test/key.pem tests/fixtures/server.key ~/.gitconfig ~/.bashrc ~/.ssh/config ~/.ssh/id_ed25519.pub
/tmp/out.log docs/secrets.md src/secrets.py src/auth/token.ts .git/HEAD .github/workflows/ci.yml .vscode/settings.json
yarn.lock certs/ca.crt .claude/settings.json .mcp.json ~/.cargo/config.toml ~/go/pkg/mod/x/y.go /dev/null
public/keys.json tests/data/cert.pem /etc/ssl/certs/ca-certificates.crt
""".split()

WRITTEN = """
README.md src/new/folder/file.ts .github/workflows/ci.yml .github/dependabot.yml .gitignore package.json
package-lock.json
.vscode/settings.json .vscode/launch.json pyproject.toml Dockerfile docker-compose.yml Makefile .env.example .env.ts
.pre-commit-config.yaml .husky/pre-commit CLAUDE.md AGENTS.md .cursor/rules/style.mdc .claude/commands/review.md
/tmp/scratch.py /tmp/a/b/c.txt docs/secrets.md src/secrets.py src/hooks/useAuth.ts nginx/nginx.conf k8s/deploy.yaml
.devcontainer/devcontainer.json tests/fixtures/passwd tests/fixtures/etc/hosts systemd/app.service cron/jobs.txt
src/git/hooks.py src/agent/settings.json .cargo/config.toml .github/CODEOWNERS .gitmodules src/env.d.ts
""".split()


@pytest.fixture
def work(monkeypatch):
    monkeypatch.setenv("HOME", "/home/dev")
    return {"cwd": "/home/dev/project", "project_dir": "/home/dev/project"}


@pytest.mark.parametrize(
    ("kind", "path"),
    [*(("read", path) for path in READ), *(("write", path) for path in WRITTEN), ("edit", "README.md")],
)
def test_an_honest_file_is_left_alone(work, kind, path):
    assert PathGuard().execute(about("Tool", kind, args={"file_path": path}, **work)) is None


@pytest.mark.parametrize("what", TABLES["texts"])
def test_an_honest_text_is_written_and_read(work, what):
    args = {"file_path": "src/x.txt", "content": TABLES["texts"][what]}
    guard = SecretsGuard()
    assert guard.execute(about("Write", "write", args=args, **work)) is None


ADDRESSES = """
https://example.com https://github.com/org/repo http://localhost:3000 http://127.0.0.1:8080/x https://docs.python.org/3/
https://192.168.example.com https://metadata.example.com/x wss://echo.example.com https://1.1.1.1/dns-query
http://[::1]:3000 localhost:5432 http://app.test:3000 https://example.com/?u=http://169.254.169.254/
https://example.com/about#169.254.169.254 https://en.wikipedia.org/wiki/Metadata
""".split()


@pytest.mark.parametrize("url", ADDRESSES)
def test_an_honest_address_is_reached(work, url):
    args = {"url": url, "prompt": "What does it say about 10.0.0.1?"}
    assert EgressGuard().execute(about("WebFetch", "fetch", args=args, **work)) is None
