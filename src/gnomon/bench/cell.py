"""What a benchmark consists of: cells, each with ways to do the same work and the targets that are set for them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from gnomon.bench.targets import Target
from gnomon.registry import Registry
from gnomon.report.bench.results import Row

INTO_GIVEN = "into given memory"
FRESH_SMALL = "fresh memory, blocks under 32 MiB"
FRESH_LARGE = "fresh memory, blocks of 32 MiB and more: page faults"
LARGE = 32 << 20


@dataclass(frozen=True)
class Candidate:
    """One way to do the work: `call` is what is timed, `error` the largest difference of its answer from float64's.

    `error` is asked once, before anything is timed; None is for what has no answer, such as a copy. `once`: with one
    number of threads alone.
    """

    name: str
    call: Callable[[], object]
    error: Callable[[], float] | None = None
    once: bool = False


@dataclass(frozen=True)
class Child:
    """One way whose peak of memory is measured in a process of its own; see `gnomon.bench.memory.peak_growth`."""

    name: str
    code: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """Ways that are timed in turns; the first is the baseline of the ratios. `missing` are rows with a reason each.

    `children` are measured for memory, and `given` are rows known beforehand, such as the size of the inputs.
    `alone`: the cell does not get a second form with more threads. `bars`: it is shown as bars too.
    """

    title: str
    regime: str
    candidates: tuple[Candidate, ...] = ()
    targets: tuple[Target, ...] = ()
    missing: tuple[Row, ...] = ()
    children: tuple[Child, ...] = ()
    given: tuple[Row, ...] = ()
    alone: bool = False
    bars: bool = False


@dataclass(frozen=True)
class Request:
    """How a benchmark is asked for: its size, which peers to compare with, and the length of a long context.

    `tell` is called with a few words by a benchmark that takes long to make its next cell.
    """

    quick: bool = False
    peers: tuple[str, ...] = ()
    tokens: int | None = None
    tiny: bool = False  #: sizes of a test, which say nothing about speed
    tell: Callable[[str], None] = lambda words: None


class Bench(Protocol):
    """A benchmark is a function of a request; its docstring says what is compared. It makes cell after cell."""

    __doc__: str | None

    def __call__(self, request: Request) -> Iterator[Cell]: ...


registry: Registry[Bench] = Registry("benchmark", package="gnomon.bench.benches")


def regime(largest: int) -> str:
    """The regime of results in fresh memory whose largest block has so many bytes.

    >>> regime(33_554_432)
    'fresh memory, blocks of 32 MiB and more: page faults'
    """
    return FRESH_LARGE if largest >= LARGE else FRESH_SMALL


def sorted_out(*ways: Candidate | Row) -> tuple[tuple[Candidate, ...], tuple[Row, ...]]:
    """Candidates, and the rows of those that cannot run here."""
    candidates = tuple(way for way in ways if isinstance(way, Candidate))
    return candidates, tuple(way for way in ways if isinstance(way, Row))
