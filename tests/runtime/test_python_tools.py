"""Tools: descriptions from signatures, what cannot be one, and sets of them."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import json
import subprocess
import sys
from collections.abc import Callable  # noqa: TC003 - an annotation that is read
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Unpack

import pytest
from pydantic import BaseModel, Field, field_validator

from agent_hooks.errors import ReadOnlyError, RunError, ToolArgumentsError
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.python_tools import Tool, tool, toolset

if TYPE_CHECKING:
    # exists nowhere: annotations may use names that are missing at run time
    from somewhere import Unknowable  # type: ignore[import-not-found]

pytestmark = pytest.mark.interpreter


def run(one: Tool, **args):
    return asyncio.run(one.call(args))


def refusal(one: Tool, **args) -> str:
    with pytest.raises(ToolArgumentsError) as caught:
        run(one, **args)
    return str(caught.value)


class User(BaseModel):
    """Somebody."""

    name: str
    age: int = 0

    @field_validator("name")
    @classmethod
    def lower(cls, name: str) -> str:
        if not name.islower():
            raise ValueError("must be lower case")
        return name


@dataclass
class Point:
    x: int
    y: int = 0


@tool
def greet(name: str, times: int = 1, *, loud: bool = False) -> Unknowable:
    """Greet somebody.

    Several times, if asked.
    """
    text = " ".join([f"hi {name}"] * times)
    return text.upper() if loud else text


def mixed(
    flag: bool,
    count: int,
    size: float,
    text: str,
    items: list[int] = [0],  # noqa: B006 - a default like any other
    table: dict[str, list[str]] | None = None,
    either: int | str | bool | None = None,
    anything=(),
):
    given = locals()
    return {name: (type(value), value) for name, value in given.items()}


class Counter:
    def __init__(self):
        self.count = 0

    def add(self, number: int, **rest):
        """Add."""
        self.count += number
        return self.count

    @staticmethod
    def double(number: int):
        return 2 * number

    @classmethod
    def title(cls, ending: str):
        return cls.__name__ + ending


async def plain(a: int):
    await asyncio.sleep(0)
    return a


# The description of a tool for the model


def test_a_function_is_described_by_its_name_docstring_and_signature():
    assert (greet.name, greet.kind, greet.aliases) == ("greet", "other", ())
    assert greet.description == "Greet somebody.\n\nSeveral times, if asked."
    assert greet.parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "times": {"type": "integer", "default": 1},
            "loud": {"type": "boolean", "default": False},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


def test_a_function_without_docstring_or_parameters_has_an_empty_description_and_an_empty_object():
    one = tool(lambda: "pong", name="ping")
    assert (one.description, run(one)) == ("", "pong")
    assert one.parameters == {"type": "object", "properties": {}, "additionalProperties": False}
    assert refusal(one, **{"a": 1, "**": 2}).splitlines() == [
        "a: Unknown parameter; the tool takes none",
        "**: Unknown parameter; the tool takes none",
    ]


def test_the_schema_is_made_once_and_read_only():
    assert greet.parameters is greet.parameters
    with pytest.raises(ReadOnlyError):
        greet.parameters["properties"]["name"] = {}


def test_fields_give_descriptions_limits_and_defaults():
    @tool
    def find(
        pattern: Annotated[str, Field(description="What to look for.")],
        limit: int = Field(10, ge=1, le=99),
        mode: Literal["fast", "whole"] = "fast",
        where: str | None = None,
    ):
        return pattern, limit, mode, where

    properties = find.parameters["properties"]
    assert properties["pattern"] == {"type": "string", "description": "What to look for."}
    assert properties["limit"] == {"type": "integer", "default": 10, "minimum": 1, "maximum": 99}
    assert properties["mode"] == {"type": "string", "default": "fast", "enum": ["fast", "whole"]}
    assert properties["where"] == {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    assert run(find, pattern="x", where=None) == ("x", 10, "fast", None)
    assert refusal(find, pattern="x", limit=0) == "limit: Input should be greater than or equal to 1, got 0"


def test_models_and_dataclasses_are_described_without_titles():
    @tool
    def move(user: User, to: Point):
        return user, to

    definitions = copy.deepcopy(move.parameters["$defs"])
    definitions["Point"].pop("additionalProperties", None)  # said since pydantic 2.14, refused before
    assert definitions == {
        "User": {
            "description": "Somebody.",
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 0}},
            "required": ["name"],
        },
        "Point": {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
            "required": ["x"],
        },
    }


def test_unannotated_parameters_take_anything_and_a_default_that_json_cannot_write_is_not_in_the_schema():
    missing = object()
    one = tool(lambda a, b=missing: (a, b), name="one")
    assert one.parameters["properties"] == {"a": {}, "b": {}}
    assert run(one, a=[1, "x"]) == ([1, "x"], missing)


def test_a_name_given_by_a_field_is_the_models_name_of_the_parameter():
    @tool
    def send(from_: Annotated[str, Field(alias="from")], class_: str = Field("post", alias="class")):
        return from_, class_

    assert send.parameters["required"] == ["from"]
    assert run(send, **{"from": "me", "class": "air"}) == ("me", "air")
    assert refusal(send, from_="me") == (
        "Missing required parameters: from\nfrom_: Unknown parameter; the tool takes from, class"
    )


def test_pydantic_is_not_imported_before_a_tool_is_described_or_called():
    program = (
        "import sys\n"
        "from agent_hooks.runtime.python_tools import tool, toolset\n"
        "@tool(kind='read')\n"
        "def look(path: str, lines: int = 3): 'Look.'\n"
        "tools = toolset([look])\n"
        "assert 'pydantic' not in sys.modules\n"
        "tools['look'].schema\n"
        "assert 'pydantic' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# The Tool itself


def test_a_tool_called_directly_is_the_function():
    assert greet("ann", loud=True) == "HI ANN"
    one: Any = greet  # it has what functools.wraps would copy, and no type checker knows
    assert (one.__name__, one.__doc__, one.__wrapped__) == ("greet", greet.function.__doc__, greet.function)
    assert list(inspect.signature(greet).parameters) == ["name", "times", "loud"]


def test_options_replace_what_the_function_says():
    @tool(name="fs.look", kind="read", description="Look.", aliases=["peek"])
    def look():
        """Not this."""

    assert (look.name, look.kind, look.description, look.aliases) == ("fs.look", "read", "Look.", ("peek",))
    assert repr(look).startswith(f"<Tool 'fs.look' kind=read function={__name__}.")
    kinds = (tool(look.function, name="Bash").kind, tool(look.function, name="Bash", kind="read").kind)
    assert kinds == ("shell", "read"), "that of a well-known name, unless given"


def test_a_tool_does_not_change():
    for change in (lambda: setattr(greet, "name", "x"), lambda: setattr(greet, "nmae", "x")):
        with pytest.raises(ReadOnlyError, match="make another tool"):
            change()
    with pytest.raises(ReadOnlyError):
        del greet.name
    assert greet.name == "greet"


def test_a_call_of_a_model_gets_the_kind_and_the_aliases_of_its_tool():
    one = tool(lambda command: 0, name="sh", kind="shell", aliases=("console",))
    call = ToolCall("sh", {"command": "ls"}, id="7")
    known = one.known(call)
    assert known == ToolCall("sh", {"command": "ls"}, id="7", kind="shell", aliases=("console",))
    assert known.command == "ls"
    assert one.known(known) is known


def _generator(a):
    yield a


async def _async_generator(a):
    yield a


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tool(lambda *names: 0, name="one"), r"Tool 'one' \(.*<lambda>\): '\*names' cannot be given by name"),
        (lambda: tool(len), r"Tool 'len' \(builtins.len\): 'obj' cannot be given by name"),
        (lambda: tool(lambda a, /: 0, name="one"), "'a' cannot be given by name"),
        (lambda: tool(dict.fromkeys), "cannot be given by name|signature cannot be read"),
        (lambda: tool(Counter.add), r"Tool 'add' \(.*Counter.add\) is a method without its object"),
        (lambda: tool(lambda: 0), r"Tool '<lambda>' \(.*\) needs another name: .* Give it one: tool\(name=...\)"),
        (lambda: tool(greet.function, name="no spaces"), "'no spaces' .* needs another name"),
        (lambda: tool(greet.function, name="x" * 201), "needs another name: 1 to 200"),
        (lambda: tool(greet.function, kind="reed"), "'reed' is not a kind of tool; use one of shell, read"),
        (lambda: tool(greet.function, aliases="a b"), r"aliases are names, .* not \('a b',\)"),
        (lambda: tool(greet.function, aliases=(1,)), r"aliases are names"),  # type: ignore[arg-type]
        (lambda: tool(_generator), "is a generator, and a model needs a whole result: return a list"),
        (lambda: tool(_async_generator), "is a generator"),
        (lambda: tool(Counter), "is no function"),
        (lambda: tool(greet), "is no function"),
        (lambda: tool(functools.partial(Counter)), "is no function"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_where_it_is_defined(make, message):
    with pytest.raises(RunError, match=message):
        make()


class Opaque:
    pass


def _opaque(a: Opaque):
    raise AssertionError


def _unreadable(a: Unknowable):
    raise AssertionError


def _unpacked(**a: Unpack[Opaque]):  # type: ignore[misc]
    raise AssertionError


def _with_callback(then: Callable[[], int]):
    raise AssertionError


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_opaque, r"Tool '_opaque' \(.*_opaque\): pydantic cannot validate its parameters: .*Opaque"),
        (_unreadable, r"Tool '_unreadable' \(.*\): an annotation cannot be read \(name 'Unknowable' is not defined\)"),
        (_unpacked, "Tool '_unpacked' .*: pydantic cannot validate its parameters"),
        (_with_callback, "Tool '_with_callback' .* Annotate it with a type that JSON can write"),
    ],
)
def test_a_type_that_cannot_be_validated_or_described_is_refused_when_the_tool_is_described(function, message):
    with pytest.raises(RunError, match=message) as caught:
        _ = tool(function).parameters
    assert "https://" not in str(caught.value)


# Tool.of


class Remote:
    """A tool that brings its own schema, as one from a server would."""

    name = "remote.search"
    description = "Search far away."
    parameters: ClassVar = {"type": "object", "properties": {"q": {"type": "string"}}}
    kind = "web_search"
    aliases = ("search",)

    def __init__(self):
        self.seen = []

    async def call(self, args):
        self.seen.append(args)
        args["q"] = "changed"
        return "found"


def test_an_object_with_its_own_schema_gets_aplain_dict_and_validates_itself():
    remote = Remote()
    one = Tool.of(remote)
    described = (one.name, one.description, one.kind, one.aliases, one.parameters)
    assert described == ("remote.search", "Search far away.", "web_search", ("search",), Remote.parameters)
    call = ToolCall("remote.search", {"q": 1, "extra": [True]})
    assert asyncio.run(one.call(call.args)) == "found"
    assert (type(remote.seen[0]), remote.seen) == (dict, [{"q": "changed", "extra": [True]}])
    assert call.args == {"q": 1, "extra": [True]}


def test_an_object_with_its_own_schema_may_be_sync_and_needs_no_kind():
    one = Tool.of(SimpleNamespace(name="Grep", description="", parameters={"type": "object"}, call=sorted))
    assert (one.kind, run(one, b=1, a=2)) == ("search", ["a", "b"])


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ("greet", "is no tool; give a function"),
        (None, "is no tool; give a function"),
        (SimpleNamespace(name="x", call=print), "is no tool; give a function"),
        (Remote, "is no function; give a function"),
        (SimpleNamespace(**{**vars(Remote)} | {"name": 1}), "is no tool; give a function"),
        (SimpleNamespace(name="söarch", description="", parameters={}, call=print), "'söarch' .* needs another name"),
    ],
)
def test_anything_else_is_refused(obj, message):
    assert Tool.of(greet) is greet
    with pytest.raises(RunError, match=message):
        Tool.of(obj)


# A set of tools


def test_tools_are_found_by_name_in_the_order_given():
    tools = toolset([plain, greet, Remote()])
    assert list(tools) == ["plain", "greet", "remote.search"]
    assert (len(tools), tools["greet"], tools.get("greet"), tools.get("nope")) == (3, greet, greet, None)
    assert toolset(tools) == tools
    with pytest.raises(TypeError):
        tools["x"] = greet  # type: ignore[index]


def test_a_tool_tells_a_driver_its_name_description_and_parameters():
    first, second = (one.schema for one in toolset([greet, Remote()]).values())
    assert first == {"name": "greet", "description": greet.description, "parameters": greet.parameters}
    assert second["parameters"] == Remote.parameters
    assert json.loads(json.dumps(first))["name"] == "greet"


def test_two_tools_of_one_name_are_refused_with_both_named():
    with pytest.raises(RunError, match=r"Two tools are called 'greet': .*\.greet> and .*\.mixed>\. Rename one"):
        toolset([greet, tool(mixed, name="greet")])
