from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel

from agent_hooks import RegistrationError
from agent_hooks_frameworks.kinds import kind_of

STRING, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
STRINGS = {"type": "array", "items": STRING}
MAYBE = {"anyOf": [STRING, {"type": "null"}], "default": None}
CHOICE = {"enum": ["json", "text"], "type": "string"}


def schema_of(**properties):
    return {"type": "object", "properties": properties}


def kind(name, schema=None, function=None, kinds=None, tools=None):
    return kind_of(name, kinds=kinds or {}, tools=tools or {}, schema=schema, function=function)


def name_of(value):
    return value if isinstance(value, str) else ""


# Signatures of tools that are published, as their frameworks and servers describe them to a model.
PUBLISHED = [
    # LangChain's toolkits
    ("terminal", schema_of(commands={"anyOf": [STRING, STRINGS]}), "shell"),
    ("Python_REPL", schema_of(query=STRING), "shell"),
    ("python_repl_ast", schema_of(query=STRING), "shell"),
    ("read_file", schema_of(file_path=STRING), "read"),
    ("write_file", schema_of(file_path=STRING, text=STRING, append=FLAG), "write"),
    ("file_delete", schema_of(file_path=STRING), "delete"),
    ("copy_file", schema_of(source_path=STRING, destination_path=STRING), None),
    ("move_file", schema_of(source_path=STRING, destination_path=STRING), None),
    ("file_search", schema_of(dir_path=STRING, pattern=STRING), "search"),
    ("list_directory", schema_of(dir_path=STRING), "search"),
    ("requests_get", schema_of(url=STRING), "fetch"),
    ("navigate_browser", schema_of(url=STRING), "fetch"),
    ("duckduckgo_search", schema_of(query=STRING), "web_search"),
    ("duckduckgo_results_json", schema_of(query=STRING), "web_search"),
    ("tavily_search", schema_of(query=STRING, include_domains=STRINGS, topic=CHOICE), "web_search"),
    ("google_serper", schema_of(query=STRING), "web_search"),
    ("sql_db_query", schema_of(query=STRING), "other"),
    ("execute_sql", schema_of(query=STRING), None),
    # Strands
    ("shell", schema_of(command={"anyOf": [STRING, STRINGS]}, parallel=FLAG, timeout=NUMBER, work_dir=STRING), "shell"),
    ("file_read", schema_of(path=STRING, mode=STRING, search_pattern=STRING, start_line=NUMBER), "read"),
    ("file_write", schema_of(path=STRING, content=STRING), "write"),
    (
        "editor",
        schema_of(command=STRING, path=STRING, file_text=STRING, old_str=STRING, new_str=STRING, insert_line=NUMBER),
        "edit",
    ),
    ("python_repl", schema_of(code=STRING, interactive=FLAG, reset_state=FLAG), "shell"),
    ("http_request", schema_of(method=STRING, url=STRING, headers={"type": "object"}, body=STRING), "fetch"),
    ("calculator", schema_of(expression=STRING, mode=STRING, precision=NUMBER), None),
    ("current_time", schema_of(timezone=STRING), None),
    ("stop", schema_of(reason=STRING), "other"),
    # OpenAI, Anthropic
    ("shell", schema_of(action=schema_of(commands=STRINGS, timeout_ms=NUMBER)), "shell"),
    ("local_shell", schema_of(action=schema_of(command=STRINGS, env={"type": "object"})), "shell"),
    ("computer", schema_of(action=CHOICE, coordinate={"type": "array", "items": NUMBER}, text=STRING), None),
    ("computer_use_preview", schema_of(action=schema_of(type=CHOICE, url=STRING, text=STRING)), None),
    ("str_replace_based_edit_tool", schema_of(command=STRING, path=STRING, old_str=STRING, new_str=STRING), "edit"),
    ("bash", schema_of(command=STRING, restart=FLAG), "shell"),
    ("code_execution", schema_of(code=STRING), "shell"),
    ("apply_patch", schema_of(input=STRING), "edit"),
    # smolagents
    ("python_interpreter", schema_of(code=STRING), "shell"),
    ("visit_webpage", schema_of(url=STRING), "fetch"),
    ("web_search", schema_of(query=STRING), "web_search"),
    ("final_answer", schema_of(answer={"type": "any"}), "other"),
    ("user_input", schema_of(question=STRING), "other"),
    # AutoGen, CrewAI, Agno
    ("CodeExecutor", schema_of(code=STRING), "shell"),
    ("Code Interpreter", schema_of(code=STRING, libraries_used=STRINGS), "shell"),
    ("Read a file's content", schema_of(file_path=STRING), "read"),
    ("run_shell_command", schema_of(args=STRINGS, tail=NUMBER), "shell"),
    ("save_to_file_and_run", schema_of(file_name=STRING, code=STRING, overwrite=FLAG), "shell"),
    ("save_file", schema_of(contents=STRING, file_name=STRING, overwrite=FLAG), "write"),
    # servers of the Model Context Protocol: filesystem, fetch, git, a sandbox for Python, search
    ("read_text_file", schema_of(path=STRING, head=NUMBER, tail=NUMBER), "read"),
    ("read_multiple_files", schema_of(paths=STRINGS), "read"),
    ("write_file", schema_of(path=STRING, content=STRING), "write"),
    ("edit_file", schema_of(path=STRING, edits={"type": "array", "items": {"type": "object"}}, dryRun=FLAG), "edit"),
    ("create_directory", schema_of(path=STRING), "write"),
    ("directory_tree", schema_of(path=STRING, excludePatterns=STRINGS), "search"),
    ("search_files", schema_of(path=STRING, pattern=STRING), "search"),
    ("get_file_info", schema_of(path=STRING), "read"),
    ("list_allowed_directories", schema_of(), "other"),
    ("move_file", schema_of(source=STRING, destination=STRING), None),
    ("fetch", schema_of(url=STRING, max_length=NUMBER, start_index=NUMBER, raw=FLAG), "fetch"),
    ("mcp__filesystem__write_file", schema_of(path=STRING, content=STRING), "write"),
    ("git_status", schema_of(repo_path=STRING), None),
    ("git_add", schema_of(repo_path=STRING, files=STRINGS), None),
    ("run_python_code", schema_of(python_code=STRING), "shell"),
    ("execute_command", schema_of(command=STRING, cwd=STRING), "shell"),
    ("brave_web_search", schema_of(query=STRING, count=NUMBER), "web_search"),
    ("puppeteer_evaluate", schema_of(script=STRING), None),
    ("browser_navigate", schema_of(url=STRING), "fetch"),
    ("browser_type", schema_of(text=STRING), None),
]


@pytest.mark.parametrize(("name", "schema", "expected"), PUBLISHED, ids=name_of)
def test_the_kind_of_published_tools_is_told(name, schema, expected):
    assert kind(name, schema) == expected


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("get_weather", schema_of(city=STRING)),
        ("run_query", schema_of(sql=STRING)),
        ("get_flights", schema_of(source=STRING, destination=STRING)),
        ("get_country", schema_of(code=STRING)),
        ("run_report", schema_of(country_code=STRING)),
        ("review_code", schema_of(code=STRING)),
        ("lint_python", schema_of(code=STRING)),
        ("search_python_docs", schema_of(query=STRING)),
        ("share_snippet", schema_of(code=STRING, title=STRING)),
        ("set_power", schema_of(command=CHOICE, id=STRING)),
        ("add_review_comment", schema_of(path=STRING, body=STRING, line=NUMBER)),
        ("send_file", schema_of(path=STRING, text=STRING)),
        ("api_get", schema_of(path=STRING)),
        ("list", schema_of(tag=STRING)),
        ("create", schema_of(id=STRING)),
        ("view", schema_of(ticket=STRING)),
        ("google_drive_search", schema_of(query=STRING, folder_id=STRING)),
        ("run_tests", schema_of(working_directory=STRING)),
        ("step", {"type": "object", "properties": {}, "additionalProperties": True}),
        ("save", schema_of(text={"type": "object"})),
        ("anything", {"type": "object"}),
        ("edit", schema_of(ticket=STRING)),
    ],
    ids=name_of,
)
def test_the_kind_of_tools_that_say_too_little_is_unknown(name, schema):
    assert kind(name, schema) is None


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("send_email", schema_of(to=STRING, subject=STRING, body=STRING, cc=STRINGS)),
        ("add", schema_of(a=NUMBER, b={"type": "number"})),
        ("set_mode", schema_of(mode=CHOICE, on=FLAG, level={"anyOf": [NUMBER, {"type": "null"}]})),
        ("search_products", schema_of(query=STRING, limit=NUMBER)),
        ("now", schema_of()),
        ("think", schema_of(thought=STRING)),
    ],
    ids=name_of,
)
def test_a_tool_that_takes_no_command_path_address_or_code_is_another_one(name, schema):
    assert kind(name, schema) == "other"


# -- the order ---------------------------------------------------------------------------------------------------------


def test_the_callers_kind_comes_before_all_others():
    assert kind("Bash", schema_of(command=STRING), kinds={"Bash": "read"}, tools={"Bash": "shell"}) == "read"


def test_a_kind_that_there_is_not_is_an_error_with_the_kinds():
    with pytest.raises(RegistrationError, match=re.escape("kinds={'run': 'shel'}") + ".*shell, read, write"):
        kind("run", kinds={"run": "shel"})


def test_the_frameworks_own_tools_come_before_the_shared_names():
    assert kind("read_file", schema_of(file_path=STRING), tools={"read_file": "fetch"}) == "fetch"


@pytest.mark.parametrize(("name", "expected"), [("Bash", "shell"), ("grep_search", "search"), ("run", None)])
def test_a_shared_name_decides_where_the_parameters_are_unknown(name, expected):
    assert kind(name) == expected


def test_a_tool_that_coding_agents_have_without_a_kind_may_be_more_here():
    assert kind("skill", schema_of(name=STRING)) == "other"
    assert kind("skill", schema_of(command=STRING)) == "shell"


# -- schemas and functions ---------------------------------------------------------------------------------------------


class Mode(Enum):
    FAST = "fast"


class Command(BaseModel):
    command: str
    timeout: int = 10


@dataclass
class Edit:
    path: str
    old_text: str
    new_text: str


class RunContext:
    pass


def test_a_schema_is_read_through_references_and_an_object_around_all_arguments():
    referred = {"properties": {"request": {"$ref": "#/$defs/Command"}}, "$defs": {"Command": schema_of(cmd=MAYBE)}}
    assert kind("do", referred) == "shell"
    assert kind("do", schema_of(mode={"$ref": "#/$defs/Mode"}) | {"$defs": {"Mode": CHOICE}}) == "other"


def test_a_schema_that_contains_itself_ends():
    tree = {"$defs": {"Tree": {"anyOf": [NUMBER, {"type": "array", "items": {"$ref": "#/$defs/Tree"}}]}}}
    assert kind("grow", schema_of(tree={"$ref": "#/$defs/Tree"}) | tree) is None
    assert kind("grow", schema_of(tree={"$ref": "#/$defs/A"}) | {"$defs": {"A": {"$ref": "#/$defs/A"}}}) is None


def functions():
    def run(ctx: RunContext, command: str): ...
    def model(request: Command): ...
    def edit(change: Edit): ...
    def untyped(path, content): ...
    def delete(path: Annotated[str, "a file"]): ...
    def number(count: int, mode: Mode, unit: Literal["C", "F"], flags: list[bool] | None = None): ...
    def context(ctx: RunContext, message: str): ...
    def further(message: str, **rest): ...
    def mapping(message: dict[str, Any]): ...
    def unresolved(command: NotThere): ...  # type: ignore[name-defined]  # noqa: F821

    return [
        (run, "shell"),
        (model, "shell"),
        (edit, "edit"),
        (untyped, "write"),
        (delete, "delete"),
        (number, "other"),
        (context, "other"),
        (further, None),
        (mapping, None),
        (unresolved, "shell"),
        (partial(run, RunContext()), "shell"),
    ]


@pytest.mark.parametrize(("function", "expected"), functions())
def test_the_parameters_of_a_function_are_read_where_there_is_no_schema(function, expected):
    name = getattr(function, "__name__", "do")
    assert kind(name, function=function) == expected
    assert kind(name, {"type": "object"}, function) == expected


def test_a_function_without_a_signature_says_nothing():
    assert kind("do", function=dict) is None
