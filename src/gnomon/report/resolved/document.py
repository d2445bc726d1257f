"""What a resolver found, as plain data: what each stack makes of one file, how that differs, and what mends it.

`gnomon.resolving.resolve` fills it; the renderers beside this file read it. Nothing here imports torch or numpy.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gnomon.report.resolved.layers import Decided, Effect, Layer, Unread

SCHEMA_VERSION = 1

#: serves: the stack computes something; stops: it ends with an error; absent: it has no such model, or its rule for it
#: was not traced
Status = Literal["serves", "stops", "absent"]
#: a column in one word; `differs` and `equal` are against the reference, `unknown` where the reference itself is absent
Verdict = Literal["reference", "equal", "differs", "stops", "absent", "unknown"]
VERDICTS: tuple[Verdict, ...] = ("reference", "equal", "differs", "stops", "absent", "unknown")


@dataclass(frozen=True)
class Mend:
    """What makes a stack agree with the reference.

    `text`: what to type or to edit, "" where nothing in the stack does: it is told only when the file was read again
    with it, and nothing but rounding was left. `nearest`: then what brings the stack much nearer, and `left`: what is
    still different with it, in words; "" where nothing does.
    """

    text: str = ""
    nearest: str = ""
    left: str = ""

    @property
    def possible(self) -> bool:
        return bool(self.text)


@dataclass(frozen=True)
class Column:
    """One stack in one version.

    `title`: its full name; `since`: the range of versions, in words. `message`: why it stops or is absent, "" where it
    serves. `sure`: "run" or "by reading". `sources`: what was run or read. `cap`: the length that the stack derives
    from the file, None for none. `effects`: one for each kind of layer and length, in the order of kinds, then lengths;
    empty unless both this stack and the reference serve. `sentences`: the differences in plain words. `mend`: None
    where nothing has to be mended. `newest`: whether it is the version that the stack's name alone stands for.
    """

    stack: str
    version: str
    title: str
    since: str
    status: Status
    verdict: Verdict
    message: str
    sure: str
    sources: str
    cap: int | None = None
    layers: tuple[Layer, ...] = ()
    used: tuple[Decided, ...] = ()
    ignored: tuple[Unread, ...] = ()
    notes: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    sentences: tuple[str, ...] = ()
    mend: Mend | None = None
    newest: bool = True

    @property
    def name(self) -> str:
        """As it is asked for: stack@version."""
        return f"{self.stack}@{self.version}"


@dataclass(frozen=True)
class Lint:
    """What is wrong with the file itself: a finding of the doctor's check `code` (PE1xx)."""

    code: str
    name: str
    severity: str  #: error, warning or note
    where: str
    message: str
    fix: str


@dataclass(frozen=True)
class Resolution:
    """What every stack makes of one file.

    `target`: the file or name. `source`: "config" or "gguf". `reference`: stack@version that the others are held
    against. `lengths`: evaluated, ascending. `served`: the length that servers are started for. `columns`: the
    reference first, then the others as asked for. `summary`: plain sentences about all stacks together. `lints`: faults
    of the file itself. `gnomon`: the version that wrote it.
    """

    target: str
    source: Literal["config", "gguf"]
    reference: str
    lengths: tuple[int, ...]
    served: int
    columns: tuple[Column, ...]
    summary: tuple[str, ...] = ()
    lints: tuple[Lint, ...] = ()
    gnomon: str = ""

    def column(self, stack: str, version: str | None = None) -> Column:
        """The column of a stack, the first of its versions unless one is named; raises KeyError when there is none."""
        for column in self.columns:
            if column.stack == stack and version in (None, column.version):
                return column
        raise KeyError(stack if version is None else f"{stack}@{version}")

    def to_dict(self) -> dict[str, Any]:
        """JSON values; a number that is not finite is null."""
        return {"schema_version": SCHEMA_VERSION, **_fields(self)}

    def to_json(self) -> str:
        """The document as JSON, schema version 1."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_html(self, path: str | Path) -> None:
        """Write the page of this resolution; the file appears whole or not at all."""
        from gnomon.report.resolved.html import write_page

        write_page([self], Path(path))

    def __str__(self) -> str:
        from gnomon.report.resolved.text import render_resolution

        return render_resolution(self)


def _fields(item: Any) -> dict[str, Any]:
    """The fields of one of the classes above as JSON values, in the order they are declared."""
    return {name: _plain(value) for name, value in vars(item).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(held) for held in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "__dataclass_fields__"):
        return _fields(value)
    return value if value is None or isinstance(value, str | int) else str(value)
