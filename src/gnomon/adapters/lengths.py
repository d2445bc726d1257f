"""How many tokens each example has, from a file: a number a line, a JSON list, or JSON lines with a length field."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gnomon.errors import UnsupportedTargetError

FIELDS = ("length", "n_tokens", "num_tokens")
LONGEST = 2**40


def read_lengths(path: str | Path) -> list[int]:
    """The lengths in a file; raises UnsupportedTargetError with one sentence for what is missing or not a length."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError):
        raise UnsupportedTargetError(f"There is no text file of lengths at {str(path)!r}.") from None
    try:
        return checked_lengths(_values(text))
    except UnsupportedTargetError as error:
        raise UnsupportedTargetError(f"{path}: {error}") from None


def checked_lengths(values: Iterable[Any]) -> list[int]:
    """Whole numbers from 0 up, at least one; raises UnsupportedTargetError for anything else.

    >>> checked_lengths([3, 5.0])
    [3, 5]
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise UnsupportedTargetError(f"Lengths are a list of numbers of tokens, got {type(values).__name__}.")
    found = [_length(value, place) for place, value in enumerate(values, start=1)]
    if not found:
        raise UnsupportedTargetError("There is no length; give a number of tokens for each example.")
    return found


def _values(text: str) -> Sequence[Any]:
    """A JSON list as a whole, else one value a line."""
    if text.lstrip().startswith("["):
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError):
            raise UnsupportedTargetError("The list of lengths is not valid JSON.") from None
        return [_field(value, place) for place, value in enumerate(whole, start=1)]
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    return [_line(line, number) for number, line in lines]


def _line(line: str, number: int) -> Any:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise UnsupportedTargetError(
            f"Line {number} is no length: {line[:40]!r}; give one number, or an object with {FIELDS[0]!r}, a line."
        ) from None
    return _field(value, number)


def _field(value: Any, place: int) -> Any:
    if not isinstance(value, dict):
        return value
    for field in FIELDS:
        if field in value:
            return value[field]
    raise UnsupportedTargetError(f"Entry {place} has none of the fields {', '.join(FIELDS)}.")


def _length(value: Any, place: int) -> int:
    """A whole number from a number of any library."""
    try:
        whole = int(value)
        sound = not isinstance(value, bool | str) and whole == value and 0 <= whole < LONGEST
    except (TypeError, ValueError, OverflowError):
        sound = False
    if not sound:
        raise UnsupportedTargetError(f"Entry {place} is no number of tokens: {str(value)[:40]!r}.")
    return whole
