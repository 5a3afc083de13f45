"""For authors of plugins with settings: check that a project can only tighten."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hypothesis.strategies import DrawFn, SearchStrategy
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo


def assert_tightens(model: type[BaseModel], *, examples: int = 200) -> None:
    """Check with ``examples`` generated pairs that ``model.tighten(own, project)`` is at least as strict as both.

    It must leave the settings alone if a project says the same or nothing, and once a project has tightened them,
    neither the project nor the settings before may change the result: where it lets the project override, they do. A
    ``ValueError`` is a refusal, which is right for all but a project that says nothing. Raises ``AssertionError`` with
    the pair, and ``ImportError`` without the package hypothesis.
    """
    try:
        from hypothesis import HealthCheck, given, settings
        from hypothesis import strategies as st
    except ImportError as error:
        raise ImportError("assert_tightens makes its pairs with hypothesis: pip install hypothesis") from error

    fields = {name: _values(field) for name, field in model.model_fields.items()}
    needed = {name: values for name, values in fields.items() if model.model_fields[name].is_required()}
    optional = {name: values for name, values in fields.items() if name not in needed}
    tables = st.fixed_dictionaries(needed, optional=optional)

    @st.composite
    def pairs(draw: DrawFn) -> tuple[Any, Any]:
        own = draw(tables)
        # What both say is where it matters, so a part of a project's values are those of its user.
        given = {name: draw(_near(own[name], value)) if name in own else value for name, value in draw(tables).items()}
        return _made(model, own), _made(model, given)

    @settings(
        max_examples=examples, deadline=None, database=None, derandomize=True, suppress_health_check=[*HealthCheck]
    )
    @given(pairs())
    def check(pair: tuple[Any, Any]) -> None:
        _check(model, *pair)

    check()


def _values(field: FieldInfo) -> SearchStrategy[Any]:
    from typing import Annotated

    from hypothesis import strategies as st

    patterns = [found for each in field.metadata if (found := getattr(each, "pattern", None))]
    if patterns:
        return st.from_regex(patterns[0])
    return st.from_type(Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation)  # type: ignore[arg-type]


def _near(own: Any, other: Any) -> SearchStrategy[Any]:
    """Return a strategy for values of a project: the user's, another, and parts of both."""
    from hypothesis import strategies as st

    found = [own, other]
    if isinstance(own, (list, tuple)) and isinstance(other, type(own)):
        found += [type(own)((*own, *other)), own[:1], own[1:]]
    elif isinstance(own, (set, frozenset)) and isinstance(other, type(own)):
        found += [own | other, own - {*[*own][:1]}]
    return st.sampled_from(found)


def _once(value: Any) -> Any:
    """Leave out what a list says twice, which a merge of lists may do as well."""
    is_list = isinstance(value, (list, tuple))
    return type(value)({repr(each): each for each in value}.values()) if is_list else value


def _made(model: type[BaseModel], values: dict[str, Any]) -> BaseModel:
    from hypothesis import reject
    from pydantic import ValidationError

    try:
        return model.model_validate({name: _once(value) for name, value in values.items()}, by_name=True)
    except ValidationError:
        reject()


def _check(model: Any, own: Any, project: Any) -> None:
    from pydantic import ValidationError

    def holds(said: str, first: Any, second: Any, expected: Any, *, may_refuse: bool = True) -> None:
        try:
            found = model.tighten(first, second)
        except ValueError as error:
            if not may_refuse:
                raise AssertionError(f"{name}.tighten({said}) refuses what says nothing: {error}.\n{pair}") from error
            return
        if found != expected:
            raise AssertionError(f"{name}.tighten({said}) is {found!r}, and not {said.partition(',')[0]}.\n{pair}")

    name = model.__name__
    pair = f"own: {own!r}\nproject: {project!r}"
    holds("own, own", own, own, own)
    try:
        nothing = model()
    except ValidationError:  # it has keys that must be given
        nothing = own
    holds(f"own, {name}()", own, nothing, own, may_refuse=nothing is own)
    try:
        result = model.tighten(own, project)
    except ValueError:
        return
    pair += f"\nresult: {result!r}"
    holds("result, project", result, project, result)
    holds("result, own", result, own, result)
