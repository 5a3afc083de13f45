"""Immutable values: the base of every word that the engine passes around.

A value stores only the fields it was given; everything else is its class's default. That makes building one and
replacing a field a single dict operation, however many fields the class declares.
"""

from __future__ import annotations

from _thread import allocate_lock

from agent_hooks.errors import AgentHooksError, ReadOnlyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, ClassVar, NoReturn, Self, dataclass_transform

    once = property
else:

    def dataclass_transform(**_options: object) -> Callable[[type], type]:
        """Stand in for typing's, which only type checkers read: importing typing costs more than this package."""
        return lambda cls: cls

    _UNSET = object()

    def once(compute: Callable[[Any], Any]) -> property:
        """Make a property that is computed when it is first read. The class has a slot for it, `_` and its name."""
        slot = f"_{compute.__name__}"

        def read(self: Any) -> Any:
            found = getattr(self, slot, _UNSET)  # an exception takes longer than most computations
            if found is _UNSET:
                setattr(self, slot, found := compute(self))
            return found

        return property(read, doc=compute.__doc__)


new_value = object.__new__


def _field(name: str, default: object, *, is_held: bool) -> property:
    # One closure for each way of reading: there are hundreds of fields, and they are made at each start.
    if is_held:

        def read(self: Value) -> object:
            value = self._fields.get(name, default)
            return value.whole() if type(value) in HELD else value
    else:

        def read(self: Value) -> object:
            return self._fields.get(name, default)

    def refuse(self: Value, _value: object) -> NoReturn:
        raise ReadOnlyError(f"{type(self).__name__}.{name} is read-only; use .replace({name}=...) and return the copy.")

    return property(read, refuse)


# Types whose instances need no freezing: atoms, and every value and name.
_UNCHANGEABLE: set[type] = {str, int, float, bool, type(None), bytes}


class _Slotted(type):
    """Leaves no room for attributes that are not fields, so that a misspelt one is an error."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
        made = super().__new__(cls, name, bases, {"__slots__": (), **namespace})
        _UNCHANGEABLE.add(made)
        return made


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Value(metaclass=_Slotted):
    """An immutable record. Annotated class attributes are its fields, their values the defaults.

    ``replace(**changes)`` gives a changed copy, ``as_dict()`` a JSON-ready dict of the fields that are set, and
    ``from_dict()`` the value again. Raises ``TypeError`` for a field that does not exist or is missing.
    """

    __slots__ = ("_fields",)
    _fields: dict[str, Any]
    _known: ClassVar[frozenset[str]] = frozenset()
    _required: ClassVar[frozenset[str]] = frozenset()
    _defaults: ClassVar[dict[str, Any]] = {}
    _decode: ClassVar[dict[str, Callable[[Any], Any]]] = {}
    # The fields that may be kept as one of ``HELD``; who reads them is given the whole.
    _held: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        names = [name for name in cls.__annotations__ if not name.startswith("_")]
        defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        cls._defaults = {**cls._defaults, **defaults}
        cls._known = cls._known | frozenset(names)
        cls._required = (cls._required | frozenset(names)) - cls._defaults.keys()
        for name in names:
            setattr(cls, name, _field(name, defaults.get(name), is_held=name in cls._held))

    def __init__(self, *positional: object, **fields: Any) -> None:
        if positional:
            raise TypeError(f"{type(self).__name__} takes its fields by name: {', '.join(sorted(self._known))}.")
        if not self._known.issuperset(fields) or (self._required and not self._required <= fields.keys()):
            raise self._misfit(fields)
        self._fields = frozen_fields(fields)

    @classmethod
    def _misfit(cls, fields: Mapping[str, Any]) -> TypeError:
        unknown = sorted(fields.keys() - cls._known)
        missing = sorted(cls._required - fields.keys())
        problem = f"has no field {', '.join(unknown)}" if unknown else f"needs {', '.join(missing)}"
        return TypeError(f"{cls.__name__} {problem}; its fields are {', '.join(sorted(cls._known))}.")

    @classmethod
    def _of(cls, fields: dict[str, Any]) -> Self:
        """Build from fields known to be right: the engine's own way in, without the checks."""
        new = new_value(cls)
        new._fields = fields
        return new

    def replace(self, **changes: Any) -> Self:
        """Return a copy with ``changes``. Raises ``TypeError`` for an unknown field."""
        if not self._known.issuperset(changes):
            raise self._misfit({**self._fields, **changes})
        return self._with(**frozen_fields(changes))

    def _with(self, **changes: Any) -> Self:
        """Return a copy with changes known to be right: the engine's own ``replace``, without the checks."""
        new = new_value(type(self))
        new._fields = {**self._fields, **changes}
        return new

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON types only."""
        return {name: plain(value) for name, value in self._fields.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the value that ``as_dict`` wrote. Raises ``TypeError`` for wrong fields."""
        if not hasattr(data, "items"):
            raise TypeError(f"{cls.__name__} is read from an object, not from {type(data).__name__}.")
        fields = {}
        for name, value in data.items():
            decode = cls._decode.get(name)
            try:
                fields[name] = value if decode is None or value is None else decode(value)
            except (TypeError, ValueError, AttributeError, KeyError) as error:
                if isinstance(error, AgentHooksError):
                    raise
                raise TypeError(f"{cls.__name__}.{name} cannot be read: {error}") from error
        return cls(**fields)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self._fields, other._fields
        return mine == theirs or {**self._defaults, **mine} == {**self._defaults, **theirs}

    def __deepcopy__(self, memo: object) -> Self:
        return self

    __hash__ = None  # type: ignore[assignment]  # values may hold dicts

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={shown(value)}" for name, value in self._fields.items())
        return f"{type(self).__name__}({inside})"


# Characters of a text and items of a container that the representation of a value shows.
_MOST_CHARACTERS = 1000
_MOST_ITEMS = 20


def shown(value: Any) -> str:
    """Return the representation of a field, shortened: asyncio asks for that of a task's result at each start."""
    value = value.whole() if type(value) is Growing else value
    kind, brackets = type(value), "()"
    if kind is str:
        rest = len(value) - _MOST_CHARACTERS
        return repr(value) if rest <= 0 else f"{value[:_MOST_CHARACTERS]!r}... ({rest} more characters)"
    if isinstance(value, dict):
        brackets, keys = "{}", list(value)[:_MOST_ITEMS]
        parts = [f"{key!r}: {shown(value[key])}" for key in keys]
    elif kind is tuple or isinstance(value, list):
        brackets = "()" if kind is tuple else "[]"
        parts = [*map(shown, value[:_MOST_ITEMS])]
    else:
        return repr(value)
    if len(value) > _MOST_ITEMS:
        parts.append(f"... {len(value) - _MOST_ITEMS} more")
    inside = f"{parts[0]}," if kind is tuple and len(parts) == 1 else ", ".join(parts)
    return f"{brackets[0]}{inside}{brackets[1]}"


def _refuse_change(_self: object, *_args: object, **_kwargs: object) -> NoReturn:
    raise ReadOnlyError(
        "What a hook is given is read-only. Return the change instead, for example "
        "HookOutcome.update(tool_args={**tool_call.args, 'key': value}). "
        "copy.deepcopy() gives a copy that can be changed."
    )


class _Frozen:
    """Makes copies of itself plain and changeable. Pickled, it is frozen again."""

    __slots__ = ()

    def __deepcopy__(self, memo: object) -> Any:
        return thaw(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return (freeze, (thaw(self),))


class FrozenDict(_Frozen, dict[str, "Any"]):
    """A dict that refuses changes. Equal to a plain dict; ``copy.deepcopy`` gives a plain, changeable one."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse_change
    clear = pop = popitem = setdefault = update = _refuse_change


class FrozenList(_Frozen, list["Any"]):
    """A list that refuses changes. Equal to a plain list; ``copy.deepcopy`` gives a plain, changeable one."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse_change
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse_change


class Growing:
    """The items of a tuple that grows at its end: each is kept in one list with those that it grew from, so that
    adding one copies none. ``whole()`` is the tuple; it is made when it is first asked for.
    """

    __slots__ = ("_items", "_length", "_whole")

    def __init__(self, items: list[Any], length: int) -> None:
        self._items = items
        self._length = length

    @classmethod
    def plus(cls, before: Growing | Iterable[Any], added: Iterable[Any]) -> Growing:
        """Return the items of ``before`` with ``added`` behind them."""
        with _ADDING:
            if not isinstance(before, Growing):
                items = list(before)
            elif len(before._items) == before._length:
                items = before._items
            else:  # something else was added behind these
                items = before._items[: before._length]
            items += added
            return cls(items, len(items))

    def whole(self) -> tuple[Any, ...]:
        """Return the items as a tuple."""
        try:
            return self._whole
        except AttributeError:
            self._whole: tuple[Any, ...] = tuple(self._items[: self._length])
            return self._whole

    copy = whole

    def last(self) -> Any:
        """Return the last item."""
        return self._items[self._length - 1]

    def __len__(self) -> int:
        return self._length

    def __eq__(self, other: object) -> bool:
        return self.whole() == (other.whole() if type(other) is Growing else other)

    __hash__ = None  # type: ignore[assignment]  # as for the values in it

    def __reduce__(self) -> tuple[Any, ...]:
        return (tuple, (self.whole(),))


_ADDING = allocate_lock()
# They are made by freeze alone, so nothing in them is left to be frozen. What is added to a conversation are values.
_UNCHANGEABLE |= {FrozenDict, FrozenList, Growing}
# The types that stand for a value, which ``whole()`` returns: nothing in them is left to be frozen either.
HELD: set[type] = {Growing}


def frozen_fields(fields: Any) -> dict[str, Any]:
    """Return ``fields`` itself, with every dict, list and set in it made read-only."""
    for name, value in fields.items():
        if type(value) not in _UNCHANGEABLE:
            fields[name] = freeze(value)
    return fields  # type: ignore[no-any-return]  # a dict, or keyword arguments with types of their own


def freeze(value: Any) -> Any:
    """Return ``value`` with every dict, list, set and bytearray in it read-only; anything else is left as it is."""
    kind = type(value)
    if kind is dict:  # the arguments of most tools: one level of atoms, copied in one go
        for inner in value.values():
            if type(inner) not in _UNCHANGEABLE:  # no call for an atom: results may have millions
                return FrozenDict({k: v if type(v) in _UNCHANGEABLE else freeze(v) for k, v in value.items()})
        return FrozenDict(value)
    if kind in _UNCHANGEABLE:
        return value
    if isinstance(value, dict):
        return FrozenDict({k: freeze(v) for k, v in value.items()})
    if isinstance(value, list):
        if _UNCHANGEABLE.issuperset(map(type, value)):
            return FrozenList(value)
        return FrozenList([v if type(v) in _UNCHANGEABLE else freeze(v) for v in value])
    if kind is tuple:
        return value if _UNCHANGEABLE.issuperset(map(type, value)) else tuple([freeze(v) for v in value])
    if isinstance(value, set):
        return frozenset(value)
    return bytes(value) if isinstance(value, bytearray) else value


def joined(before: Mapping[str, Any], added: Mapping[str, Any]) -> FrozenDict:
    """Return the items of both, read-only; those of ``before`` are frozen already."""
    for value in added.values():
        if type(value) not in _UNCHANGEABLE:
            return FrozenDict({**before, **freeze(added)})
    return FrozenDict({**before, **added})


def thaw(value: Any) -> Any:
    """Return a deep copy of ``value`` in plain dicts and lists."""
    if isinstance(value, dict):
        return {k: thaw(v) for k, v in value.items()}
    if isinstance(value, list):
        return [thaw(v) for v in value]
    if type(value) is tuple:
        return tuple([thaw(v) for v in value])
    return value


def plain(value: Any) -> Any:
    """Return ``value`` in JSON types; whatever has no JSON form becomes a string."""
    kind = type(value)
    if kind is str or kind is int or value is None or kind is bool:  # results may have millions
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, Value):
        return value.as_dict()
    if isinstance(value, dict) or (hasattr(value, "keys") and hasattr(value, "__getitem__")):
        return {str(key): plain(value[key]) for key in value.keys()}  # noqa: SIM118 - a mapping need not be iterable
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if kind in HELD:
        return plain(value.copy())
    if isinstance(value, BaseException):
        return {"type": type(value).__name__, "message": written(value)}
    return written(value)


def written(value: object) -> str:
    """Return ``value`` as text, also if its ``__str__`` fails."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - whatever its author let it raise
        return f"<{type(value).__name__} that cannot be written>"


class Name(str):
    """A word from a set: a plain string that also carries facts. ``Decision("deny")`` gives the one and only member."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        _UNCHANGEABLE.add(cls)

    def __new__(cls, name: str) -> Self:
        """Return the member called ``name``."""
        return cls.parse(name)

    @classmethod
    def parse(cls, name: str) -> Self:
        """Return the member called ``name``."""
        raise NotImplementedError

    @classmethod
    def _make(cls, name: str) -> Self:
        return str.__new__(cls, name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str.__repr__(self)})"


def checked(value: Any, kind: type[Any], field: str) -> Any:
    """Return ``value``, given for ``field``. Raises ``TypeError`` if it is not of this type."""
    if not isinstance(value, kind):
        raise TypeError(f"{field} must be of the type {kind.__name__}, not {type(value).__name__}.")
    return value
