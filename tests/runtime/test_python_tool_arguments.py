"""Arguments of tools: what the function gets, messages for the model about invalid ones, and how it runs."""

from __future__ import annotations

import asyncio
import copy
import functools
import threading
from contextvars import ContextVar
from datetime import date
from types import MappingProxyType
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import AliasChoices, AliasPath, Field

from agent_hooks.errors import RunError, ToolArgumentsError
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.python_tools import Tool, tool
from runtime.test_python_tools import Counter, Point, User, greet, mixed, plain, refusal, run

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


def _returning_awaitable(a: int):
    return plain(a)


@pytest.mark.parametrize(
    "one",
    [
        *map(Tool.of, [plain, _returning_awaitable, Asynchronous()]),
        *map(Tool.of, [functools.partial(plain), functools.partial(plain, a=4)]),
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


@pytest.mark.parametrize("function", [plain, Asynchronous(), functools.partial(plain, a=1)])
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
