"""Names to things. One registry for each kind; a package's files register themselves when they are first asked for."""

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from gnomon.errors import GnomonError, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Things of one kind by name, found by importing every file of one package.

    >>> shapes: Registry[type] = Registry("shape", package=None)
    >>> @shapes.register("ring")
    ... class Ring: ...
    >>> shapes.get("ring") is Ring
    True
    """

    def __init__(self, noun: str, package: str | None, *, also: Mapping[str, str] | None = None) -> None:
        """`also`: other names that people use, and the name here that a hint gives them."""
        self._noun = noun
        self._also = also or {}
        self._package = package
        self._items: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Register under `name`; a name is never used twice."""

        def add(item: T) -> T:
            if name in self._items:
                raise GnomonError(f"The {self._noun} name {name!r} is taken by {self._items[name]!r}; choose another.")
            self._items[name] = item
            return item

        return add

    def get(self, name: str) -> T:
        """The thing called `name`; raises UnknownNameError with the names that exist."""
        self._discover()
        if name not in self._items:
            known = self._also.get(name.lower())
            near = [known] if known else difflib.get_close_matches(name.lower(), self._items, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            raise UnknownNameError(f"No {self._noun} is called {name!r}. {hint}Known: {', '.join(self.names())}.")
        return self._items[name]

    def names(self) -> list[str]:
        self._discover()
        return sorted(self._items)

    def exported(self, others: Iterable[str]) -> list[str]:
        """The public names of the package: its registered classes by their own names, and `others`."""
        return sorted([*others, *(getattr(item, "__name__", name) for name, item in self)])

    def attribute(self, name: str, *, module: str, others: Iterable[str]) -> Any:
        """What the package's `__getattr__` answers: a registered class by its own name, or `__all__`."""
        if name == "__all__":
            return self.exported(others)
        if not name.startswith("_"):
            for _, item in self:
                if getattr(item, "__name__", None) == name:
                    return item
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    def __iter__(self) -> Iterator[tuple[str, T]]:
        return ((name, self._items[name]) for name in self.names())

    def __contains__(self, name: object) -> bool:
        self._discover()
        return name in self._items

    def __len__(self) -> int:
        return len(self.names())

    def _discover(self) -> None:
        if self._package is None:
            return
        package, self._package = importlib.import_module(self._package), None
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            importlib.import_module(module.name)
