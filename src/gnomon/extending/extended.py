"""What an extension did, or would do: plain facts that a report or a program reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from gnomon.extending.stacks import StackRow
from gnomon.report.plain import fields

SCHEMA_VERSION = 1  #: of the form of `Extended.to_dict`


@final
@dataclass(frozen=True)
class Edit:
    """A key of a small file, by its dotted path; None stands for a key that is not there."""

    key: str
    before: Any
    after: Any


@final
@dataclass(frozen=True)
class Extended:
    """`output` is None where nothing was written. `changed` names tensors; `untouched` counts the others, `digest` is
    the SHA-256 over their names and bytes. `left_behind` are files and folders of the source that were not copied.
    """

    source: Path
    output: Path | None
    to: int | tuple[int, int]
    method: str
    words: tuple[str, ...] = ()
    drawbacks: tuple[str, ...] = ()
    edits: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    stacks: tuple[StackRow, ...] = ()
    changed: tuple[str, ...] = ()
    untouched: int = 0
    digest: str = ""
    left_behind: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON values; a number that is not finite is null."""
        return {"schema_version": SCHEMA_VERSION, **fields(self)}

    def __str__(self) -> str:
        from gnomon.extending.text import text_of

        return text_of(self)


def edits_between(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> tuple[Edit, ...]:
    """The keys that differ, inner mappings by their own keys, in the order of the new file.

    >>> edits_between({"a": 1, "b": {"c": 2}}, {"b": {"c": 3, "d": 4}})
    (Edit(key='b.c', before=2, after=3), Edit(key='b.d', before=None, after=4), Edit(key='a', before=1, after=None))
    """
    found: list[Edit] = []
    for key in dict.fromkeys((*after, *before)):
        old, new = before.get(key), after.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            found += edits_between(old, new, f"{prefix}{key}.")
        elif old != new or type(old) is not type(new):
            found.append(Edit(prefix + key, old, new))
    return tuple(found)
