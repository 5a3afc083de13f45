"""Tools: descriptions from signatures, arguments of functions, and messages for the model about invalid ones."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import json
import subprocess
import sys
import threading
from collections.abc import Callable  # noqa: TC003 - an annotation that is read
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import AliasChoices, AliasPath, BaseModel, Field, field_validator

from agent_hooks.errors import ReadOnlyError, RunError, ToolArgumentsError
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.python_tools import Tool, tool, toolset

if TYPE_CHECKING:
    # exists nowhere: annotations may use names that are missing at run time
    from somewhere import Unknowable  # type: ignore[import-not-found]


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


# What the function gets


def test_a_function_gets_values_of_the_types_that_it_declares():
    @tool
    def take(user: User, point: Point, day: date, tags: set[str], sizes: dict[str, int], users: list[User]):
        return user, point, day, tags, sizes, users

    args = {
        "user": {"name": "ann"},
        "point": {"x": "1"},
        "day": "2026-01-31",
        "tags": ["a", "a"],
        "sizes": {"a": "1"},
        "users": [{"name": "bob", "age": 3}],
    }
    before = copy.deepcopy(args)
    assert run(take, **args) == (
        User(name="ann"),
        Point(1),
        date(2026, 1, 31),
        {"a"},
        {"a": 1},
        [User(name="bob", age=3)],
    )
    assert args == before


@pytest.mark.parametrize("freeze", [dict, MappingProxyType, lambda args: ToolCall("t", args).args])
def test_a_function_may_change_what_it_gets_and_the_call_stays_as_it_was(freeze):
    def change(items, found: dict[Any, Any], names: list[str]):
        items["a"].append(2)
        found["b"] = 1
        names.append("y")
        return items, found, names

    args = freeze({"items": {"a": [1]}, "found": {}, "names": ["x"]})
    assert asyncio.run(Tool.of(change).call(args)) == ({"a": [1, 2]}, {"b": 1}, ["x", "y"])
    assert args == {"items": {"a": [1]}, "found": {}, "names": ["x"]}


def test_a_mutable_default_is_not_shared_between_calls():
    def collect(item: int, into: list[Any] = []):  # noqa: B006 - the mistake under test
        into.append(item)
        return into

    one = tool(collect)
    assert (run(one, item=1), run(one, item=2)) == ([1], [2])


def test_parameters_may_have_the_names_that_pydantic_keeps_for_itself():
    names = "title schema copy json dict model_name model_config model_fields _hidden __x __class__ p0 cls args None_"
    declared = ", ".join(names.split())
    space: dict[str, Any] = {}
    exec(f"def odd({declared}): return [{declared}]", space)
    one = tool(space["odd"])
    assert list(one.parameters["properties"]) == names.split()
    assert run(one, **{name: number for number, name in enumerate(names.split())}) == list(range(len(names.split())))


@tool
def label(name: str, **labels: int):
    return name, labels


@tool
def keep(point: Point, **rest):
    return point, rest


@tool
def find(q: Annotated[str, Field(validation_alias=AliasChoices("query", AliasPath("search", 0)))], **rest):
    return q, rest


ANYTHING = tool(lambda **rest: rest, name="any")


@pytest.mark.parametrize(
    ("one", "args", "result"),
    [
        (label, {"name": "x", "labels": "1", "p0": "2"}, ("x", {"labels": 1, "p0": 2})),
        (label, {"name": "x", "a": "b"}, "a: Input should be a valid integer"),
        (ANYTHING, {"**": 1, "rest": 2}, {"**": 1, "rest": 2}),
        (ANYTHING, {}, {}),
        # They do not open the other parameters: an undeclared attribute could replace a method.
        (keep, {"point": {"x": 1}, "z": 1}, (Point(1), {"z": 1})),
        (keep, {"point": {"x": 1, "z": 1}}, "point.z: Unexpected keyword argument, got 1"),
        # Every name of a parameter is left to it.
        (find, {"query": "x", "a": 1}, ("x", {"a": 1})),
        (find, {"search": ["y"], "a": 1}, ("y", {"a": 1})),
        (find, {"query": "x", "q": "y"}, "q: Unknown parameter; the tool takes query, search"),
    ],
)
def test_keyword_arguments_take_what_is_left(one, args, result):
    if isinstance(result, str):
        assert refusal(one, **args).startswith(result)
    else:
        assert run(one, **args) == result


def test_keyword_arguments_are_described_by_their_type():
    assert label.parameters["additionalProperties"] == {"type": "integer"}
    assert ANYTHING.parameters == {"type": "object", "properties": {}}


def test_a_type_may_be_defined_after_the_tool():
    space: dict[str, Any] = {"tool": tool}
    program = "from __future__ import annotations\n@tool\ndef early(a: Later): return a\nLater = int"
    exec(program, space)
    assert run(space["early"], a="1") == 1


def test_what_a_partial_has_bound_is_not_the_models_to_give():
    def query(connection, table: str, *, limit: int = 5, user: str, **more):
        """Query."""
        return connection, table, limit, user, more

    one = tool(functools.partial(functools.partial(query, "db"), user="me"))
    assert (one.name, one.description) == ("query", "Query.")
    assert list(one.parameters["properties"]) == ["table", "limit"]
    assert run(one, table="t", limit=1, a=2) == ("db", "t", 1, "me", {"a": 2})
    assert refusal(one, table="t", user="root") == "user: Unknown parameter; the tool takes table, limit"
    assert refusal(one, table="t", connection="other") == "connection: Unknown parameter; the tool takes table, limit"


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


def test_methods_are_tools_of_their_object():
    counter = Counter()
    one = Tool.of(counter.add)
    assert (one.name, one.description, list(one.parameters["properties"])) == ("add", "Add.", ["number"])
    assert (run(one, number=2), run(one, number="3")) == (2, 5)
    assert refusal(one, number=1, self=3) == "self: Unknown parameter; the tool takes number"
    assert run(tool(Counter.double), number=2) == 4
    assert run(tool(Counter.title), ending="!") == "Counter!"


def test_a_decorated_function_is_described_as_the_one_inside():
    def twice(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return [function(*args, **kwargs)] * 2

        return wrapper

    @tool
    @twice
    def add(a: int, b: int = 1):
        """Add."""
        return a + b

    assert (add.name, add.description) == ("add", "Add.")
    assert add.parameters["required"] == ["a"]
    assert run(add, a="1") == [2, 2]


@st.composite
def _arguments(draw):
    """Arguments that the schema of ``mixed`` describes."""
    whole = st.integers()
    values = {
        "flag": st.booleans(),
        "count": whole,
        "size": st.floats(allow_nan=False, allow_infinity=False),
        "text": st.text(),
        "items": st.lists(whole),
        "table": st.dictionaries(st.text(), st.lists(st.text())),
        "either": st.one_of(whole, st.text(), st.booleans(), st.none()),
        "anything": st.recursive(st.none() | whole | st.text(), st.lists),
    }
    left_out = draw(st.sets(st.sampled_from(["items", "table", "either", "anything"])))
    return {name: draw(values[name]) for name in draw(st.permutations(sorted(values))) if name not in left_out}


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


MIXED = tool(mixed)


@given(_arguments())
def test_arguments_that_the_schema_describes_reach_the_function_unchanged(args):
    Draft202012Validator(MIXED.parameters).validate(args)
    before = copy.deepcopy(args)
    assert run(MIXED, **args) == mixed(**args)
    assert args == before


@given(st.dictionaries(st.sampled_from("flag count text items nope odd".split()), st.none() | st.text()))
def test_arguments_reach_the_function_or_each_wrong_one_is_named(args):
    reached = []

    def strict(flag: bool, count: int, text: str, items: list[int] | None = None):
        reached.append((flag, count, text, items))

    try:
        run(Tool.of(strict), **args)
        lines = []
    except ToolArgumentsError as error:
        lines = str(error).splitlines()
    missing = [name for name in ("flag", "count", "text") if name not in args]
    if missing:
        assert lines.pop(0) == f"Missing required parameters: {', '.join(missing)}"
    named = {line.partition(":")[0] for line in lines}
    assert args.keys() >= named >= args.keys() & {"nope", "odd"}
    assert len(reached) == (not missing and not named)


# Messages for the model about invalid arguments


def test_missing_arguments_are_all_named():
    one = tool(lambda a, b, c=1: None, name="one")
    assert refusal(one) == "Missing required parameters: a, b"
    assert refusal(one, c=2, b=1) == "Missing required parameters: a"


def test_every_wrong_argument_has_a_line_with_its_place_and_what_was_given():
    @tool
    def order(user: User, points: list[Point], count: int, flag: bool = False):
        raise AssertionError("not reached")

    given = {"user": {"name": "ANN", "age": "old"}, "points": [{"x": 1}, {"y": 2}], "flag": [], "colour": "red"}
    assert refusal(order, **given).splitlines() == [
        "Missing required parameters: count",
        "user.name: Value error, must be lower case, got 'ANN'",
        "user.age: Input should be a valid integer, unable to parse string as an integer, got 'old'",
        "points.1.x: Field required",
        "flag: Input should be a valid boolean, got []",
        "colour: Unknown parameter; the tool takes user, points, count, flag",
    ]


def test_what_a_message_repeats_is_cut():
    one = tool(lambda **_: None, name="one")
    strict = tool(greet.function)
    line = refusal(strict, name="x", times="9" * 20 + "x" * 5000)
    assert line.endswith("x…")
    assert len(line.partition(", got ")[2]) == 80
    assert len(refusal(strict, **{"name": "x", "k" * 5000: 1})) < 200
    assert run(one, **{"k" * 5000: 1}) is None


def test_an_error_of_the_function_is_its_own():
    def fail(kind: str):
        if kind == "validation":
            User(name="X")
        raise LookupError(kind)

    one = Tool.of(fail)
    with pytest.raises(ValueError, match="must be lower case"):
        run(one, kind="validation")
    with pytest.raises(LookupError, match="other"):
        run(one, kind="other")


# How it runs


class Asynchronous:
    async def __call__(self, a: int):
        """Answer."""
        await asyncio.sleep(0)
        return a


async def _plain(a: int):
    await asyncio.sleep(0)
    return a


def _returning_awaitable(a: int):
    return _plain(a)


@pytest.mark.parametrize(
    "one",
    [
        *map(Tool.of, [_plain, _returning_awaitable, Asynchronous()]),
        *map(Tool.of, [functools.partial(_plain), functools.partial(_plain, a=4)]),
        tool(_returning_awaitable, in_thread=True),
    ],
)
def test_whatever_is_awaitable_is_awaited(one):
    assert run(one, **({"a": "4"} if one.parameters["properties"] else {})) == 4


def test_a_callable_object_has_the_name_of_its_class_and_the_docstring_of_its_call():
    one = Tool.of(Asynchronous())
    assert (one.name, one.description) == ("Asynchronous", "Answer.")


class Eager:
    def __getattr__(self, name):
        return lambda: iter(())


def test_a_result_that_answers_to_every_attribute_is_no_awaitable():
    result = Eager()

    def one():
        return result

    assert run(tool(one)) is result


def test_a_sync_tool_runs_inline_and_one_in_a_thread_sees_the_context_variables():
    variable: ContextVar[str] = ContextVar("variable")

    def where(a: int):
        return variable.get(), threading.current_thread() is threading.main_thread(), a

    async def both():
        variable.set("set")
        return await tool(where).call({"a": 1}), await tool(where, in_thread=True).call({"a": "2"})

    assert asyncio.run(both()) == (("set", True, 1), ("set", False, 2))


@pytest.mark.parametrize("in_thread", [False, True])
def test_a_tool_that_raises_stop_iteration_fails(in_thread):
    """Neither the waiting for a thread nor the coroutine may lose it."""

    async def call():
        await asyncio.wait_for(tool(lambda: next(iter(())), name="one", in_thread=in_thread).call({}), timeout=30)

    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(call())


@pytest.mark.parametrize("function", [_plain, Asynchronous(), functools.partial(_plain, a=1)])
def test_an_async_tool_cannot_run_in_a_thread(function):
    with pytest.raises(RunError, match=r"async and cannot run in a thread: leave in_thread out"):
        tool(function, in_thread=True)


def test_many_threads_may_make_the_first_call_at_once():
    one = tool(mixed)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(run(one, flag=True, count=1, size=1.0, text="")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [mixed(flag=True, count=1, size=1.0, text="")] * 8


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


def test_an_object_with_its_own_schema_gets_a_plain_dict_and_validates_itself():
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
    tools = toolset([_plain, greet, Remote()])
    assert list(tools) == ["_plain", "greet", "remote.search"]
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
