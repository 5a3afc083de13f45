"""Calls of tools of MCP servers: their arguments are judged by their keys, whatever the tools are called."""

from __future__ import annotations

import pytest
from making import about

from agent_hooks import HookManager

# Each with the rule that it breaks.
HARMFUL = [
    ("postgres__execute_sql", {"sql": "DROP TABLE users"}, "sql-drop"),
    ("supabase__apply_migration", {"name": "x", "query": "drop schema public cascade;"}, "sql-drop"),
    ("postgres__query", {"sql": "SELECT 1; TRUNCATE orders"}, "sql-empty"),
    ("mysql__mysql_query", {"sql": "/*!50000 DROP TABLE users */"}, "sql-drop"),
    ("sqlite__write_query", {"query": "DELETE FROM users"}, "sql-empty"),
    ("snowflake__run", {"statement": "GRANT ALL PRIVILEGES ON DATABASE prod TO dev"}, "sql-grant-all"),
    ("neon__run_sql_transaction", {"params": {"sqlStatements": [], "sql": ["SELECT 1", "DELETE FROM a"]}}, "sql-empty"),
    ("bigquery__execute-query", {"query": "-- clean up\nDROP TABLE `shop.orders`"}, "sql-drop"),
    ("dbhub__batch", {"queries": ["DELETE FROM a", "DROP VIEW b"]}, "sql-empty"),
    ("neo4j__write_neo4j_cypher", {"query": "MATCH (n) DETACH DELETE n"}, "sql-empty"),
    ("mssql__call", {"statement": "EXEC xp_cmdshell 'whoami'"}, "sql-runs-program"),
    ("postgres__execute_sql", {"query": "ANALYZE; DROP TABLE users"}, "sql-drop"),
    ("postgres__query", {"query": "SAVEPOINT a; DELETE FROM users"}, "sql-empty"),
    ("mssql__query", {"query": "DROP TABLE users\nGO"}, "sql-drop"),
    ("neo4j__run", {"query": "OPTIONAL MATCH (n) DETACH DELETE n"}, "sql-empty"),
    ("shop__send", {"query": "-- a\nWITH a AS (SELECT 1) DELETE FROM users;"}, "sql-empty"),
    ("shop__send", {"statement": "ANALYZE; DROP TABLE users"}, "sql-drop"),
    ("shop__send", {"Query": "select load_extension('x.so')"}, "sql-runs-program"),
    ("notes__execute_sql", {"sql": "DROP TABLE users"}, "sql-drop"),
    ("google-docs__run_code", {"code": "import shutil;shutil.rmtree('/')"}, "files-delete-root"),
    ("box__spawn", {"argv": "rm -rf ~"}, "files-delete-home"),
    ("box__spawn", {"options": [{"ARGV": "rm -rf ~"}]}, "files-delete-home"),
    ("box__spawn", {"Command": "rm -rf ~"}, "files-delete-home"),
    ("box__spawn", {"commandLine": "rm -rf ~"}, "files-delete-home"),
    ("shop__runSQL", {"query": "DROP TABLE users"}, "sql-drop"),
    ("shop__send", {"SQL": "DROP TABLE users"}, "sql-drop"),
    ("redis__redis_command", {"command": "FLUSHALL"}, "sql-drop"),
    ("desktop-commander__start_process", {"command": "rm -rf ~", "timeout_ms": 1000}, "files-delete-home"),
    ("desktop-commander__interact", {"steps": [{"cmd": "rm -rf /"}]}, "files-delete-root"),
    ("aws__call_aws", {"cli_command": "aws s3 rb s3://prod --force"}, "aws-delete"),
    ("box__spawn", {"argv": ["rm", "-rf", "/"]}, "files-delete-root"),
    ("ssh__upload", {"script": "git status\nrm -rf ~"}, "files-delete-home"),
    ("docker__create-container", {"image": "x", "command": "rm -rf /"}, "files-delete-root"),
    ("kubernetes__apply", {"cmd": "kubectl delete namespace prod"}, "kubectl-delete"),
    ("jupyter__insert_cell", {"cell_source": "!rm -rf ~"}, "files-delete-home"),
    ("jupyter__overwrite_cell", {"cell_source": "%%bash\nrm -rf ~"}, "files-delete-home"),
    ("jupyter__insert_cell", {"cell_source": "%%time\n!rm -rf ~"}, "files-delete-home"),
    ("jupyter__insert_cell", {"cell_source": "%%timeit -n1 -r 1\n!rm -rf ~"}, "files-delete-home"),
    ("jupyter__insert_cell", {"cell_source": "%%capture out\n!rm -rf ~"}, "files-delete-home"),
    ("jupyter__insert_cell", {"cell_source": "%%whatever\n!rm -rf ~"}, "files-delete-home"),
    ("jupyter__insert_cell", {"cell_source": "%%time\n%%bash\nrm -rf ~"}, "files-delete-home"),
    ("jupyter__insert_cell", {"cell_source": "x = 1\n%time !rm -rf ~"}, "files-delete-home"),
    ("jupyter__insert_cell", {"cell_source": "%time __import__('shutil').rmtree('/')"}, "files-delete-root"),
    ("jupyter__insert_cell", {"cell_source": "get_ipython().system('rm -rf ~')"}, "files-delete-home"),
    ("jupyter__insert_cell", {"cell_source": "a = get_ipython().getoutput('rm -rf ~')"}, "files-delete-home"),
    (
        "python__run",
        {"code": "from IPython import get_ipython as g\ng().run_line_magic('sx', 'ls'); g().system('rm -rf ~')"},
        "files-delete-home",
    ),
    ("jupyter__append", {"code": "import shutil\nshutil.rmtree('/')"}, "files-delete-root"),
    (
        "playwright__browser_tab",
        {"function": "() => require('fs').rmSync('/', {recursive: true})"},
        "files-delete-root",
    ),
    (
        "playwright__browser_evaluate",
        {"function": "() => fetch('//api.example.com/1',{method:'DELETE'})"},
        "http-delete",
    ),
    (
        "playwright__browser_evaluate",
        {"function": "() => fetch('/\\\\a.example.com/1',{method:'DELETE'})"},
        "http-delete",
    ),
    ("playwright__browser_evaluate", {"function": "(x) => fetch('/' + x, {method: 'DELETE'})"}, "http-delete"),
    ("filesystem__move_file", {"source": ".", "destination": "/tmp/x"}, "path-delete-all"),
    ("filesystem__delete_directory", {"path": "~"}, "path-delete-all"),
    ("filesystem__move_file", {"source": "a.txt", "destination": "~/.ssh/authorized_keys"}, "path-accounts"),
    ("filesystem__removeFile", {"target_path": "/data/app.db"}, "path-outside-write"),
    ("filesystem__copy_file", {"whence": "~/.ssh/id_ed25519", "dest": "a"}, "path-secret-use"),
    ("browser__navigate", {"url": "file:///root/.ssh/id_rsa"}, "path-secret-read"),
    ("browser__open_page", {"address": "http://169.254.169.254/latest/meta-data/"}, "egress-metadata"),
    ("fetch__get", {"request": {"url": "http://[fd00:ec2::254]/latest"}}, "egress-metadata"),
    ("github__delete_repository", {"owner": "acme", "repo": "shop"}, "tools-destroy"),
    ("mongodb__drop-database", {"database": "shop"}, "tools-destroy"),
    ("redis__flushall", {}, "tools-destroy"),
    ("supabase__delete_project", {"id": "x"}, "tools-destroy"),
    ("sqs__purge_queue", {"queue": "orders"}, "tools-destroy"),
    ("k8s__deleteNamespace", {"name": "prod"}, "tools-destroy"),
    ("k8s__kubectl_delete", {"resourceType": "namespace", "name": "prod"}, "tools-destroy"),
    ("mongodb__drop-collection", {"collection": "users"}, "tools-destroy"),
    ("gh__manage_repo", {"action": "delete", "name": "shop"}, "tools-destroy"),
    ("postgres__reset_database", {}, "tools-destroy"),
    ("s3__empty_bucket", {"bucket": "a"}, "tools-destroy"),
    ("terraform__terraform_destroy", {}, "tools-destroy"),
    ("digitalocean__droplet_delete", {"ID": 1}, "tools-destroy"),
    ("dynamodb__delete_table", {"name": "a"}, "tools-destroy"),
    ("gcp__terminate_instances_by_ids", {"ids": ["a"]}, "tools-destroy"),
]
HONEST = [
    ("docs search", {"query": "how to DROP TABLE"}),
    ("context7__search_docs", {"query": "DROP TABLE users"}),
    ("tavily__tavily_search", {"query": "drop table syntax postgres"}),
    ("exa__web_search_exa", {"query": "truncate table"}),
    ("perplexity__ask", {"query": "What does DELETE FROM users without a WHERE do?"}),
    ("perplexity__ask", {"query": "Create a script to drop table users"}),
    ("perplexity__ask", {"query": "Drop in replacement for lodash (drop table)?"}),
    ("deepwiki__ask_question", {"query": "select the best way to drop table users; thanks"}),
    ("linear__list_issues", {"query": "delete from cart"}),
    ("linear__get_issues", {"query": "drop table reservations"}),
    ("linear__get_issues", {"query": "it's about: drop table reservations"}),
    ("linear__get_issues", {"query": "truncate text"}),
    ("sentry__list_issues", {"query": "update profile set avatar = null"}),
    ("notion__filter_pages", {"query": "update profile set avatar = null"}),
    ("postgres__validate_sql", {"sql": "DROP TABLE users"}),
    ("antlr__parse", {"code": "import shutil;shutil.rmtree('/')"}),
    ("memory__search_nodes", {"query": "rm -rf /"}),
    ("postgres__query", {"sql": "SELECT * FROM users WHERE name = 'DROP TABLE users'"}),
    ("postgres__execute_sql", {"sql": "UPDATE users SET name = 'a' WHERE id = 1"}),
    ("postgres__execute_sql", {"sql": "CREATE TABLE a (id int); INSERT INTO a VALUES (1)"}),
    ("postgres__execute_sql", {"sql": "DELETE FROM users WHERE id = 1"}),
    ("postgres__explain_query", {"sql": "DELETE FROM users"}),
    ("supabase__apply_migration", {"query": "ALTER TABLE users ADD COLUMN email text"}),
    ("sqlite__read_query", {"query": "SELECT updated_at FROM drops"}),
    ("sqlfluff__format", {"sql": "drop table users"}),
    ("bank__statement", {"statement": "The update of the grant was dropped"}),
    ("graphql__run", {"query": "mutation { updateUser(id: 1) { id } }"}),
    ("redis__redis_command", {"command": "GET flushall"}),
    ("desktop-commander__start_process", {"command": "npm test", "timeout_ms": 1000}),
    ("aws__call_aws", {"cli_command": "aws s3 ls"}),
    ("kubernetes__kubectl_get", {"resourceType": "namespace"}),
    ("box__spawn", {"argv": ["ls", "-la"]}),
    ("npm__start", {"script": "build"}),
    ("memory__manage", {"command": "delete", "path": "/memories/old.txt"}),
    ("editor__view", {"command": "create", "path": "a.txt", "file_text": "rm -rf /"}),
    ("discord__interact", {"command": "What's up?"}),
    ("shell__explain_command", {"cmd": "ls -la"}),
    ("puppeteer__puppeteer_evaluate", {"script": "document.querySelector('#x').click()"}),
    ("chrome__evaluate_script", {"function": "() => document.title"}),
    ("chrome__evaluate_script", {"function": "(el) => el.remove()", "args": ["rm"]}),
    ("playwright__browser_run_code", {"code": "async (page) => { await page.goto('https://example.com') }"}),
    ("playwright__browser_evaluate", {"function": "() => fetch('/api/users/1',{method:'DELETE'})"}),
    ("semgrep__security_check", {"code": "import shutil\nshutil.rmtree('/')"}),
    ("semgrep__semgrep_scan", {"code": "import shutil\nshutil.rmtree('/')"}),
    ("sonar__analyze_code", {"code": "import shutil\nshutil.rmtree('/')"}),
    ("eslint__check_code", {"code": "require('fs').rmSync('/', {recursive: true})"}),
    ("prettier__fix_code", {"code": "require('fs').rmSync('/', {recursive: true})"}),
    ("lambda__invoke", {"function": "delete-user", "payload": "{}"}),
    ("totp__verify", {"code": "123456"}),
    ("geo__country", {"code": "DE"}),
    ("jupyter__insert_cell", {"cell_source": "import pandas as pd\ndf = pd.read_csv('a.csv')"}),
    ("jupyter__insert_cell", {"cell_source": "!pip list"}),
    ("jupyter__insert_cell", {"cell_source": "%%time\ndf = load()\n%timeit -n 10 df.sum()"}),
    ("jupyter__insert_cell", {"cell_source": "import platform\nplatform.system()\nx.system()"}),
    ("jupyter__insert_cell", {"cell_source": "%%html\n<b>a</b>"}),
    ("jupyter__append_markdown_cell", {"cell_source": "# Never run\n!rm -rf ~"}),
    ("snippets__save_snippet", {"code": "import shutil\nshutil.rmtree('/')"}),
    ("lint__review_code", {"code": "import shutil\nshutil.rmtree('/')"}),
    ("github__add_issue_comment", {"body": "rm -rf / is dangerous; DROP TABLE users too"}),
    ("slack__post_message", {"channel": "#x", "text": "git push --force"}),
    ("filesystem__move_file", {"source": "a.txt", "destination": "docs/b.txt"}),
    ("filesystem__move_file", {"source": "sub/a.txt", "destination": "."}),
    ("filesystem__delete_file", {"path": "build/out.js"}),
    ("filesystem__delete_directory", {"path": "/tmp/scratch"}),
    ("filesystem__list_directory", {"path": "."}),
    ("fetch__fetch", {"url": "https://example.com/docs"}),
    ("browser__navigate", {"url": "http://localhost:3000"}),
    ("github__remove_label", {"label": "bug"}),
    ("gmail__delete_draft", {"id": "r1"}),
    ("playwright__delete_cookies", {}),
    ("gmail__send_email", {"to": "ada@example.com", "body": "hello"}),
    ("github__merge_pull_request", {"owner": "acme", "repo": "shop", "pull_number": 1}),
    ("github__delete_project_item", {"id": "x"}),
    ("linear__remove_issue_from_project", {"id": "x"}),
    ("spotify__remove_track_from_queue", {"id": "x"}),
    ("slack__remove_user_from_channel", {"id": "x"}),
    ("excel__delete_rows_from_table", {"table": "a"}),
    ("figma__delete_node", {"id": "x"}),
    ("memory__delete_node", {"id": "x"}),
    ("word__delete_table", {"index": 1}),
    ("serena__delete_function", {"name": "x"}),
    ("mobile__mobile_terminate_app", {"package": "x"}),
    ("redis__delete_key", {"key": "x"}),
    ("docker__remove_container", {"id": "x"}),
    ("linear__delete_status_update", {"type": "project", "id": "x"}),
    ("chrome__clear_console", {}),
    ("github__create_repository", {"name": "shop"}),
    ("github__list_repositories", {"query": "delete"}),
    ("notion__delete_block", {"id": "x"}),
    ("sheets__delete_row", {"row": 1}),
    ("figma__drop_shadow", {"node": "1:2"}),
    ("calendar__delete_event", {"id": "x"}),
    ("memory__delete_entities", {"entityNames": ["a"]}),
]


LEVEL = "[guards.shell]\nlevel = 'strict'\n"
ALLOWED = "[[guards.allow]]\nrule = 'tools-destroy'\ncommand = 'tool: mcp github delete repository'\n"
OFF = "[guards.shell]\nrules = { tools = 'off' }\n"


def judged(name, args, tmp_path):
    name = name if " " in name else f"mcp__{name}"
    kind = "mcp" if name.startswith("mcp__") else "other"
    folder = str(tmp_path)
    return (
        HookManager().hooks(ask="host").dispatch_sync(about(name, kind=kind, args=args, cwd=folder, project_dir=folder))
    )


@pytest.mark.parametrize(("name", "args", "rule"), HARMFUL, ids=str)
def test_harmful_arguments_of_any_tool_are_stopped(tmp_path, name, args, rule):
    outcome = judged(name, args, tmp_path)
    assert outcome.decision in ("deny", "ask")
    assert f"[{rule}]" in outcome.reason


@pytest.mark.parametrize(("name", "args"), HONEST, ids=str)
def test_honest_arguments_of_any_tool_pass(tmp_path, name, args):
    outcome = judged(name, args, tmp_path)
    assert (outcome.decision, outcome.reason) == ("proceed", "")


@pytest.mark.parametrize(
    ("settings", "name", "decision"),
    [
        (LEVEL, "github__remove_label", "ask"),
        (LEVEL, "gmail__send_email", "ask"),
        (LEVEL, "github__get_issue", "proceed"),
        (LEVEL, "map__reset_view", "proceed"),
        (ALLOWED, "github__delete_repository", "proceed"),
        (ALLOWED, "gitlab__delete_repository", "ask"),
        (OFF, "gitlab__delete_repository", "proceed"),
    ],
)
def test_settings_ask_about_other_verbs_and_free_a_tool(tmp_path, settings, name, decision):
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "agent-hooks.toml").write_text(settings, encoding="utf-8")
    assert judged(name, {}, tmp_path).decision == decision


def test_a_refused_tool_tells_people_what_frees_it(tmp_path):
    told = judged("github__delete_repository", {}, tmp_path).metadata["for_people"]
    assert "agent-hooks allow tools-destroy --command 'tool: mcp github delete repository'" in told
