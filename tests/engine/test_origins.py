"""Where hooks are written, as errors and reports name it."""

from __future__ import annotations

from functools import wraps

import pytest

from agent_hooks.engine.origins import (
    ORIGIN,
    origin_in,
    origin_named,
    origin_of,
    origin_of_fault,
    origin_of_making,
    shortened,
)


def line_of(function):
    return f"{__file__}:{function.__code__.co_firstlineno}"


def hook():
    raise RuntimeError("broken")


def decorated(function):
    @wraps(function)
    def around():
        return function()

    return around


class Called:
    def __call__(self):
        """A hook that is an object."""

    def method(self):
        """A hook that is a method."""


class FromFile(Called):
    """Its entry in a file says where it is written."""


setattr(FromFile, ORIGIN, "hooks.toml:3")


def test_a_hook_is_written_where_its_code_is():
    assert origin_of(hook) == line_of(hook)
    assert origin_of(decorated(hook)) == line_of(hook)
    assert origin_of(Called().method) == line_of(Called.method)
    assert origin_of(Called()) == line_of(Called.__call__)
    assert [origin_of(each) for each in (len, 3, print)] == ["", "", ""]


def test_or_where_its_entry_is():
    def made():
        """A hook that somebody makes for an entry."""

    setattr(made, ORIGIN, "agent-hooks.toml:7")
    assert origin_of(made) == origin_of(decorated(made)) == "agent-hooks.toml:7"
    assert origin_of(FromFile().method) == "hooks.toml:3"


def test_an_object_is_written_where_it_is_made():
    class Base:
        def __init__(self):
            self.origin = origin_of_making(self)

    class Derived(Base):
        def __init__(self):
            super().__init__()

    assert Derived().origin == f"{__file__}:{test_an_object_is_written_where_it_is_made.__code__.co_firstlineno + 9}"


def test_a_shortened_text_has_forty_characters_and_differs_where_the_text_does():
    assert shortened("one\n  two") == "one two"
    assert shortened("x" * 40) == "x" * 40
    first, second = shortened("x" * 41), shortened("x" * 42)
    assert first != second
    assert (len(first), first[:35]) == (40, "x" * 33 + " #")


def test_the_function_that_a_message_names_first_is_its_origin():
    class Plugin:
        first = staticmethod(hook)
        second = Called.method

    message = "house.second and 'first' cannot both be"
    assert origin_named(message, "house", Plugin) == line_of(Called.method)
    assert origin_named("'first' and house.second", "house", Plugin) == line_of(hook)
    assert origin_named("a house.secondary thing", "house", Plugin) == ""


def test_an_error_comes_up_at_the_innermost_line_of_the_package():
    with pytest.raises(RuntimeError) as raised:
        decorated(hook)()
    place = f"{__file__}:{hook.__code__.co_firstlineno + 1}"
    package = __name__.partition(".")[0]
    assert origin_in(package, raised.value) == origin_of_fault(hook, raised.value) == place
    assert origin_in("elsewhere", raised.value) == origin_in("", raised.value) == ""
    assert origin_of_fault(hook, RuntimeError("never raised")) == line_of(hook)


def test_a_syntax_error_comes_up_in_its_file():
    with pytest.raises(SyntaxError) as raised:
        compile("\n(", "rules.py", "exec")
    assert origin_in("anything", raised.value) == "rules.py:2"
