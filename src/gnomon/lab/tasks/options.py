"""Options of generated tasks: each is checked where the task is built, and what is refused is said in one sentence."""

from collections.abc import Sequence
from typing import TypeVar

from gnomon.errors import GnomonError

Choice = TypeVar("Choice", bound=str | bool)


def require_whole(task: str, option: str, value: object, lowest: int) -> int:
    """The value itself; raises GnomonError unless it is a whole number of at least `lowest`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
        raise GnomonError(f"The task {task!r} takes {option} as a whole number of at least {lowest}, got {value!r}.")
    return value


def require_share(task: str, option: str, value: object) -> float:
    """The value itself; raises GnomonError unless it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise GnomonError(f"The task {task!r} takes {option} as a number from 0 to 1, got {value!r}.")
    return float(value)


def require_choice(task: str, option: str, value: Choice, allowed: Sequence[Choice]) -> Choice:
    """The value itself; raises GnomonError unless it is one of those allowed.

    >>> require_choice("reverse", "form", "slots", ("answer", "slots"))
    'slots'
    """
    if value not in allowed:
        raise GnomonError(f"The task {task!r} takes {option} as one of {', '.join(map(repr, allowed))}, got {value!r}.")
    return value
