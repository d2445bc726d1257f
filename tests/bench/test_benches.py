"""Every benchmark runs at sizes that say nothing about speed: answers are right, and rows are what targets name."""

from functools import cache
from pathlib import Path

import pytest

import gnomon.bench.benches
from gnomon.bench import child, running
from gnomon.bench.benches import long_context
from gnomon.bench.cell import Request, registry
from gnomon.bench.peers import installed
from gnomon.bench.running import TINY, run
from gnomon.report.bench.results import Benchmarks

#: Largest errors of ours at these sizes: rounding in float32, and one rounding to bfloat16 of numbers below 4.
SINGLE, HALF = 2e-6, 0.0157
#: Why a target may be without a number in a tiny run.
EXPECTED_REASONS = ("not asked for", "full form only", "where it is installed", "import torch: not part of this run")
NAMES = ("decode", "long-context", "relative-shift", "rotary", "rotary-backward", "score-bias", "startup", "t5-bias")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children run here: a process each would take most of the time of these tests."""
    for module in (running, long_context):
        monkeypatch.setattr(module, "in_fresh_process", child.measured)


@cache
def tiny(name: str, *, peers: tuple[str, ...] = ()) -> Benchmarks:
    request = Request(quick=True, tiny=True, peers=peers)
    return run([name], request, threads=[1], command="", timing=TINY, tell=lambda *_: None)


def test_each_file_is_one_benchmark_and_says_what_it_compares() -> None:
    [folder] = gnomon.bench.benches.__path__
    files = {path.stem.replace("_", "-") for path in Path(folder).glob("*.py")} - {"--init--"}
    assert set(registry.names()) == files == {*NAMES, "tables"}
    for _, bench in registry:
        assert bench.__doc__
        assert "\n" not in bench.__doc__.strip()


@pytest.mark.parametrize("name", [*NAMES, "tables"])
def test_it_runs_and_its_answers_are_right(name: str) -> None:
    found = tiny(name)
    assert found.cells
    for cell in found.cells:
        ours = [row for row in cell.rows if row.name.startswith("gnomon") and not row.missing]
        assert ours
        bound = HALF if "bfloat16" in cell.title else SINGLE
        assert [row.name for row in ours if row.error is not None and row.error > bound] == []


@pytest.mark.parametrize("name", [*NAMES, "tables"])
def test_targets_name_rows_that_are_there(name: str) -> None:
    for cell in tiny(name).cells:
        for verdict in cell.verdicts:
            assert verdict.holds is not None or verdict.why.endswith(EXPECTED_REASONS), verdict


def test_peers_are_right_in_their_own_layout() -> None:
    for cell in tiny("rotary", peers=installed.installed()).cells:
        peers = [row for row in cell.rows if row.name in installed.PACKAGES]
        assert peers
        assert [row.name for row in peers if row.missing] == []
        bound = 0.05 if "bfloat16" in cell.title else SINGLE
        assert [row for row in peers if row.error is None or row.error > bound] == []


def test_a_peer_that_is_not_there_is_named_and_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert installed.installed() == ()
    cells = tiny("decode", peers=tuple(installed.PACKAGES)).cells
    missing = {row.name: row.missing for cell in cells for row in cell.rows if row.missing}
    assert missing["transformers"] == "not installed"
    assert missing["torchtune"] == "not installed"
