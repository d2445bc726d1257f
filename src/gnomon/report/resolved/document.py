"""What a resolver found, as plain data: what each stack makes of one file, how that differs, and what mends it.

`gnomon.resolving.resolve` fills it; the renderers beside this file read it. Nothing here imports torch or numpy.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gnomon.errors import UnknownNameError
from gnomon.report.plain import as_json, fields
from gnomon.report.resolved.layers import Decided, Effect, Layer, Unread

SCHEMA_VERSION = 1

#: serves: the stack computes something; stops: it ends with an error; absent: it has no such model, or its rule for it
#: was not traced; broken: gnomon's own reader of the stack crashed, which says nothing of the stack
Status = Literal["serves", "stops", "absent", "broken"]
#: a column in one word; `differs` and `equal` are against the reference, `unknown` where the reference itself is absent
Verdict = Literal["reference", "equal", "differs", "stops", "absent", "broken", "unknown"]
VERDICTS: tuple[Verdict, ...] = ("reference", "equal", "differs", "stops", "absent", "broken", "unknown")


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

    `title`: its full name; `since`: the range of versions, in words. `message`: why it stops, is absent or broken, ""
    where it serves. `sure`: "run" or "by reading". `sources`: what was run or read. `cap`: the length that the stack
    derives from the file, None for none. `effects`: one for each kind of layer and length, in the order of kinds, then
    lengths; empty unless both this stack and the reference serve. `sentences`: the differences in plain words. `mend`:
    None where nothing has to be mended. `newest`: whether it is the version that the stack's name alone stands for.
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


def label_of(column: Column, columns: Iterable[Column]) -> str:
    """How a column is called among others, each of which stands there once: see `labelled`."""
    return labelled(column.stack, column.version, newest=column.newest, shown=[other.stack for other in columns])


def labelled(stack: str, version: str, *, newest: bool, shown: Sequence[str]) -> str:
    """The stack, with its version where that is not the newest or where the stack is `shown` more than once.

    >>> labelled("hf4", "4.55", newest=True, shown=["hf5", "hf4"]), labelled("hf4", "4.43", newest=False, shown=["hf4"])
    ('hf4', 'hf4@4.43')
    """
    return stack if newest and shown.count(stack) <= 1 else f"{stack}@{version}"


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
        """The column of a stack, the first of its versions unless one is named.

        Raises UnknownNameError, which names the columns that there are.
        """
        for column in self.columns:
            if column.stack == stack and version in (None, column.version):
                return column
        asked, known = stack if version is None else f"{stack}@{version}", ", ".join(each.name for each in self.columns)
        raise UnknownNameError(f"No engine {asked!r} was asked about this file; there are {known}.")

    def label(self, column: Column) -> str:
        """How a column is called here: see `label_of`."""
        return label_of(column, self.columns)

    def to_dict(self) -> dict[str, Any]:
        """JSON values; a number that is not finite is null."""
        return {"schema_version": SCHEMA_VERSION, **fields(self)}

    def to_json(self) -> str:
        """The document as JSON, schema version 1."""
        return as_json(self.to_dict())

    def to_html(self, path: str | Path) -> None:
        """Write the page of this resolution; the file appears whole or not at all."""
        from gnomon.report.resolved.html import write_page

        write_page([self], Path(path))

    def __str__(self) -> str:
        from gnomon.report.resolved.text import render_resolution

        return render_resolution(self)
