"""Which of several equal ways does an operation: chosen by what it is given, or forced for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import final

from gnomon.errors import UnknownNameError


@final
class Choice:
    """The names of the paths of one operation, and the one that is forced in this thread or task, if any.

    Paths are equal to rounding error, so this is for tests, benchmarks and the self-test. Each operation says which
    path it takes on its own, and raises when the forced one cannot do what is asked.

    >>> choice = Choice("rotation", ("eager", "native"))
    >>> with choice.using("eager"):
    ...     choice.forced
    'eager'
    >>> choice.forced is None
    True
    """

    def __init__(self, operation: str, names: tuple[str, ...]) -> None:
        self.operation = operation
        self.names = names
        self._forced: ContextVar[str | None] = ContextVar(operation, default=None)

    @property
    def forced(self) -> str | None:
        """The path that `using` forces here; None when the operation chooses."""
        return self._forced.get()

    @contextmanager
    def using(self, name: str) -> Iterator[None]:
        """Take this path inside the `with` block. Raises UnknownNameError for a name that is none."""
        if name not in self.names:
            raise UnknownNameError(f"The paths of {self.operation} are {', '.join(self.names)}, got {name!r}.")
        token = self._forced.set(name)
        try:
            yield
        finally:
            self._forced.reset(token)
