"""Runs benchmarks: cell by cell, errors first, then times in turns, then memory in processes of their own."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from gnomon.bench.cell import Candidate, Cell, Request, registry
from gnomon.bench.machine import environment
from gnomon.bench.memory import can_measure, in_fresh_process
from gnomon.bench.targets import Target, judge
from gnomon.bench.timing import Timing
from gnomon.errors import GnomonError
from gnomon.lab.machine import usable_cores
from gnomon.report.bench.results import Benchmarks, CellResult, Row

#: What is told before each cell: the benchmark and the cell.
Tell = Callable[[str, str], None]
FULL, QUICK, TINY = Timing(), Timing(rounds=5, sample=0.002, patience=0.5), Timing(rounds=2, sample=0.0)


def run(
    names: Sequence[str], request: Request, *, threads: Sequence[int], command: str, timing: Timing, tell: Tell
) -> Benchmarks:
    """Everything that the named benchmarks measure. Raises GnomonError for an unknown name before anything is run."""
    benches = [(name, registry.get(name)) for name in names]
    usable, notes = _usable(threads)
    started = time.perf_counter()
    cells: list[CellResult] = []
    for name, bench in benches:
        for cell in bench(replace(request, tell=partial(tell, name))):
            tell(name, cell.title)
            cells += measured(name, cell, usable, timing)
    if not can_measure():
        notes.append("Peak memory was not measured: this system has no /proc that tells it.")
    seconds = time.perf_counter() - started
    return Benchmarks("quick" if request.quick else "full", command, environment(), tuple(cells), tuple(notes), seconds)


def _usable(threads: Sequence[int]) -> tuple[list[int], list[str]]:
    cores = usable_cores()
    usable = [count for count in threads if count <= cores] or [1]
    left_out = sorted(set(threads) - set(usable))
    word = ", ".join(map(str, left_out))
    return usable, [f"Not measured with {word} threads: this process may use {cores} cores."] if left_out else []


def measured(bench: str, cell: Cell, threads: Sequence[int], timing: Timing) -> list[CellResult]:
    """The cell with each number of threads, and its targets judged; memory is measured with one thread, once."""
    checked = _Checked.of(cell)
    memory = tuple(_peak(child.name, child.code, dict(child.values)) for child in cell.children)
    results: list[CellResult] = []
    for count in threads if cell.candidates and not cell.alone else threads[:1]:
        due = [one for one in checked.candidates if count == threads[0] or not one.once]
        with torch_threads(count):
            times = timing.seconds({one.name: one.call for one in due})
        rows = [Row(one.name, times[one.name], error=checked.errors.get(one.name)) for one in due]
        told = (*cell.given, *rows, *memory, *checked.missing)
        result = CellResult(bench, cell.title, cell.regime, count, told, bars=cell.bars)
        results.append(_judged(result, cell.targets, single=next((one for one in results if one.threads == 1), None)))
    return results


def _judged(result: CellResult, targets: Sequence[Target], *, single: CellResult | None) -> CellResult:
    due = [target for target in targets if target.threads == result.threads]
    return replace(result, verdicts=tuple(judge(target, result, single=single) for target in due))


@dataclass(frozen=True)
class _Checked:
    """Candidates that can run, with their errors, and rows of those that cannot."""

    candidates: tuple[Candidate, ...]
    errors: dict[str, float]
    missing: tuple[Row, ...]

    @classmethod
    def of(cls, cell: Cell) -> "_Checked":
        """Ask each candidate for its error. One that says that it cannot do the work becomes a row with the reason."""
        able: list[Candidate] = []
        errors: dict[str, float] = {}
        missing = list(cell.missing)
        for candidate in cell.candidates:
            try:
                if candidate.error is not None:
                    errors[candidate.name] = candidate.error()
            except GnomonError as why:
                missing.append(Row(candidate.name, missing=str(why)))
            else:
                able.append(candidate)
        return cls(tuple(able), errors, tuple(missing))


def _peak(name: str, code: str, values: dict[str, object]) -> Row:
    if not can_measure():
        return Row(name, missing="peak memory is not told by this system")
    try:
        answer = in_fresh_process({"code": code, "values": values, "threads": 1})
    except GnomonError as why:
        return Row(name, missing=str(why))
    return Row(name, tuple(answer.get("rounds", ())), int(answer["growth"]), answer.get("error"))


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """So many threads for torch inside, and as many as before afterwards."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
