"""What it costs to start the command."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from gnomon.bench.cell import Candidate, Cell, Request, registry
from gnomon.bench.memory import can_measure
from gnomon.bench.targets import Target
from gnomon.report.bench.results import Row

#: Runs a command in this process, and then tells its highest resident size (kB) and whether torch was imported.
_WATCHED = """
import sys
from gnomon.cli import main
sys.argv = ["gnomon", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
with open("/proc/self/status") as status:
    peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
print(peak, "torch" in sys.modules, file=sys.stderr)
"""
BARE, TORCH = "python, nothing imported", "import torch"
OURS = ("gnomon --version", "gnomon --help")
EXPLAIN = "gnomon explain PE101"  #: seconds, so in the full form only


@registry.register("startup")
def startup(request: Request) -> Iterator[Cell]:
    """Commands that touch no tensor, against bare Python and importing torch."""
    ours = OURS[:1] if request.tiny else OURS if request.quick else (*OURS, EXPLAIN)
    names = (BARE, *ours) if request.tiny else (BARE, *ours, TORCH)
    candidates = tuple(Candidate(name, _run(name)) for name in names)
    yield Cell("until the command has ended", "", candidates, tuple(_times(ours)), alone=True)
    if can_measure():
        sizes = tuple(Target("C1", f"{name}: at most 30 MiB, no torch", "memory size", name, 30) for name in ours)
        yield Cell("highest resident memory", "", (), sizes, given=tuple(_watched(name) for name in ours), alone=True)


def _times(names: Iterable[str]) -> Iterator[Target]:
    for name in names:
        yield Target("C1", f"{name}: at most 0.15 s", "seconds", name, 0.15)
        yield Target("C1", f"{name}: 15 times as fast as importing torch", "speed-up", name, 15, (TORCH,))


def _run(name: str) -> Callable[[], object]:
    code = {BARE: "pass", TORCH: "import torch"}.get(name)
    words = ["-c", code] if code else ["-m", *name.split()]
    return partial(_quietly, [sys.executable, *words])


def _quietly(command: list[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def _watched(name: str) -> Row:
    command = [sys.executable, "-c", _WATCHED, *name.split()[1:]]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    peak, torch = ended.stderr.split()[-2:]
    return Row(name, missing="torch was imported") if torch == "True" else Row(name, peak=int(peak) * 1024)
