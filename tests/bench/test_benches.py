"""Every benchmark runs at sizes that say nothing about speed: answers are right, and rows are what targets name."""

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from torch import Tensor

import gnomon.bench.benches
from gnomon.bench import child, running, ways
from gnomon.bench.benches import long_context
from gnomon.bench.cell import Request, registry
from gnomon.bench.peers import installed
from gnomon.bench.peers.rotary import PEERS, Rotate
from gnomon.bench.rotations import Pair, Rotation
from gnomon.bench.running import TINY, run
from gnomon.report.bench.results import Benchmarks

#: Largest errors of ours at these sizes: rounding in float32, and one rounding to bfloat16 of numbers below 4.
SINGLE, HALF = 2e-6, 0.0157
#: Why a target may be without a number in a tiny run.
EXPECTED_REASONS = ("not asked for", "full form only", "where it is installed", "import torch: not part of this run")
MEMORY = "in the full form only, where it is installed"
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
            assert verdict.value is not None or verdict.why.endswith(EXPECTED_REASONS), verdict


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
    cells = tiny.__wrapped__("decode", peers=tuple(installed.PACKAGES)).cells
    missing = {row.name: row.missing for cell in cells for row in cell.rows if row.missing}
    assert missing["transformers"] == "not installed"
    assert missing["torchtune"] == "not installed"


def test_a_peer_that_is_broken_is_a_row_with_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in installed.PACKAGES.values():
        broken = tmp_path / module
        (broken / "modules").mkdir(parents=True)
        for file in ("__init__.py", "modules/position_embeddings.py"):
            (broken / file).write_text("raise ImportError('libnothing.so: cannot open')")
        for name in [name for name in sys.modules if name.partition(".")[0] == module]:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    peers = tuple(installed.PACKAGES)
    cells = [
        cell for name in ("decode", "relative-shift", "t5-bias") for cell in tiny.__wrapped__(name, peers=peers).cells
    ]
    rows = [row for cell in cells for row in cell.rows if row.name.partition(",")[0] in peers]
    reasons = {row.missing for row in rows} - {"compiled in the full form only", MEMORY}
    assert {row.name.partition(",")[0] for row in rows} == set(peers)
    assert reasons == {"cannot be imported: ImportError: libnothing.so: cannot open"}


def test_a_peer_whose_version_is_another_is_a_row_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def another(rotation: Rotation) -> Rotate:
        def rotate(q: Tensor, k: Tensor) -> Pair:
            raise TypeError("forward() got 2 arguments")

        return rotate

    changed = tuple(replace(peer, make=another, slow_start=False) for peer in PEERS)
    monkeypatch.setattr(ways, "PEERS", changed)
    request = Request(quick=True, tiny=True, peers=tuple(installed.PACKAGES))
    cells = run(["decode"], request, threads=[1], command="", timing=TINY, tell=lambda *_: None).cells
    rows = [row for cell in cells for row in cell.rows if row.name in {peer.name for peer in changed}]
    assert {row.missing for row in rows} == {"fails here: TypeError: forward() got 2 arguments"}


def test_the_bias_says_the_length_of_its_own_cell() -> None:
    sentences = [v.sentence for cell in tiny("t5-bias").cells for v in cell.verdicts]
    assert "less than 1 ms for 40 tokens" in sentences
    assert not any("2048" in sentence for sentence in sentences)


@pytest.mark.parametrize("name", ["decode", "rotary", "rotary-backward"])
def test_peers_that_were_not_measured_are_named_in_the_sentence(name: str) -> None:
    cells = tiny(name, peers=("transformers", "torchtune")).cells
    sentences = [v.sentence for cell in cells for v in cell.verdicts if v.code == "peers"]
    half = "faster than transformers (1 not measured: transformers, compiled)"
    other = "faster than torchtune (2 not measured: rotary-embedding-torch, x-transformers)"
    assert sentences
    assert all(sentence.endswith((half, other)) for sentence in sentences)
    alone = [v for cell in tiny(name).cells for v in cell.verdicts if v.code == "peers"]
    assert [v.holds for v in alone] == [None] * len(alone)
