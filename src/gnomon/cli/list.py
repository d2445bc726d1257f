"""`gnomon list`: what there is to build and to run."""

from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.columns import columns, terminal_width
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.encodings.base import PositionEncoding
    from gnomon.encodings.frequencies.base import Frequencies

KINDS = "encodings, checks, frequencies, tasks, suites or benches"
NUM_HEADS, HEAD_DIM = 8, 64  #: what encodings are built with to ask what they promise
LENGTH_DEPENDENT = "length-dependent"


def list_names(kind: Annotated[str, typer.Argument(help=f"What to list: {KINDS}.", show_default=False)]) -> None:
    """List encodings, checks, frequencies, tasks, suites or benches."""
    if kind == "encodings":
        rows = _encodings()
    elif kind == "checks":
        rows = _checks()
    elif kind == "frequencies":
        rows = _frequencies()
    elif kind == "tasks":
        rows = _tasks()
    elif kind == "suites":
        rows = _suites()
    elif kind == "benches":
        rows = _benches()
    else:
        raise GnomonError(f"There is no list of {kind!r}; list {KINDS}.")
    typer.echo(columns(rows, width=terminal_width()))


def _encodings() -> list[tuple[str, ...]]:
    from gnomon.encodings.base import registry

    samples = [(name, cls.sample(NUM_HEADS, HEAD_DIM)) for name, cls in registry]
    return [(name, _kind(it), _promises(it), _range(it), _summary(type(it))) for name, it in samples]


def _checks() -> list[tuple[str, ...]]:
    from gnomon.doctor.check import registry

    return [(check.code, check.severity, check.name, check.title) for _, check in registry]


def _frequencies() -> list[tuple[str, ...]]:
    from gnomon.encodings.frequencies.base import registry

    return [
        (name, LENGTH_DEPENDENT if _asks_for_length(cls) else "any length", _summary(cls)) for name, cls in registry
    ]


def _tasks() -> list[tuple[str, ...]]:
    from gnomon.lab.tasks.base import registry

    return [(name, _summary(cls)) for name, cls in registry]


def _suites() -> list[tuple[str, ...]]:
    from gnomon.lab.suites.base import registry

    return [(name, suite.question) for name, suite in registry]


def _benches() -> list[tuple[str, ...]]:
    from gnomon.bench.cell import registry

    return [(name, (bench.__doc__ or "").partition("\n")[0]) for name, bench in registry]


def _kind(encoding: "PositionEncoding") -> str:
    kinds = ["relative" if encoding.relative else "absolute", *(["learned"] if encoding.learned else [])]
    return ", ".join(kinds if encoding.uses_position else ["none"])


def _promises(encoding: "PositionEncoding") -> str:
    words = {
        "keeps norms": encoding.norm_preserving and encoding.uses_position,
        "causal only": encoding.causal_only,
        LENGTH_DEPENDENT: encoding.length_dependent,
    }
    return ", ".join(word for word, holds in words.items() if holds)


def _range(encoding: "PositionEncoding") -> str:
    """How many axes a position has, and whether the options set an end to them."""
    axes = "1 axis" if encoding.axes == 1 else f"{encoding.axes} axes"
    return f"{axes}, limited" if encoding.max_length or encoding.grid else axes


def _asks_for_length(cls: type["Frequencies"]) -> bool:
    """Whether a rule can change with the length: LongRoPE does, unless its two lists are the same."""
    from gnomon.encodings.frequencies.base import Frequencies

    return cls.length_dependent or cls.at_length is not Frequencies.at_length


def _summary(cls: type) -> str:
    """The first paragraph of a class's docstring as one line."""
    return " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
