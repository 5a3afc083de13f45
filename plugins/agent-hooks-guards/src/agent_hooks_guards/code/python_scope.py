"""The names that Python code gives to values, in modules, functions and classes."""

from __future__ import annotations

from .python_calls import exported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python_values import Value

# What stands in code where the text of it is not known.
PLACEHOLDER = "unknown_text_"

# The methods of operators that are not called as their class in `ast` is.
METHODS = {
    "Mult": "mul", "Div": "truediv", "BitOr": "or", "BitAnd": "and", "BitXor": "xor", "FloorDiv": "floordiv",
    "MatMult": "matmul", "NotEq": "ne", "LtE": "le", "GtE": "ge", "In": "contains",
}  # fmt: skip


class Scope:
    """The names of a module, function, class or comprehension, and of what is around it."""

    __slots__ = ("globals", "names", "nonlocals", "parent", "returned", "stars")

    def __init__(self, parent: Scope | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.parent = parent
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.stars: list[str] = []
        # What a function returned or yielded so far; None outside of one.
        self.returned: list[Value] | None = None

    def find(self, wanted: str) -> Value | None:
        """Return what a name stands for, here or around."""
        scope: Scope | None = self
        while scope is not None:
            value = scope.names.get(wanted)
            if value is not None:
                return value
            for module in scope.stars:
                value = exported(module, wanted)
                if value is not None:
                    return value
            scope = scope.parent
        return None

    def owner(self, assigned: str) -> Scope:
        """Return the scope that a name is assigned in."""
        if assigned in self.globals:
            return self.top()
        scope = self
        while assigned in scope.nonlocals and scope.parent is not None:
            scope = scope.parent
            if assigned in scope.names:
                break
        return scope

    def top(self) -> Scope:
        """Return the module's."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope
