"""Runs by all processes of a launcher: here by one, and by two in tests/cli/test_lab_processes.py."""

from pathlib import Path

import pytest

from gnomon.lab.engines.together import Together
from tests.helpers.lab_runs import Told, same_as_undisturbed, store_in, tiny

RUNS = [tiny("nosuch"), tiny("rotary", 1)]


def test_runs_are_done_here_one_after_another_and_a_refused_one_is_a_failure(tmp_path: Path) -> None:
    told = Told()
    [result], [failure] = Together().perform(RUNS, store_in(tmp_path), told)
    assert same_as_undisturbed(result)
    assert failure.message.startswith("No encoding is called 'nosuch'.")
    assert [standing.state for standing in told.standings if standing.state != "going on"] == ["failed", "ended"]


def test_what_was_finished_is_taken_by_all(tmp_path: Path) -> None:
    before, _ = Together().perform(RUNS[1:], store_in(tmp_path))
    told = Told()
    after, _ = Together().perform(RUNS[1:], store_in(tmp_path), told)
    assert after[0].measured == before[0].measured
    assert told.standings == []


def test_only_the_leading_process_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Together()
    engine.keeps = False
    results, _ = engine.perform(RUNS[1:], store_in(tmp_path / "folder"))
    assert len(results) == 1
    assert not (tmp_path / "folder" / "runs").exists()


def test_any_other_error_ends_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("The others wait in vain.")

    monkeypatch.setattr("gnomon.lab.engines.together.perform", fail)
    with pytest.raises(RuntimeError, match="in vain"):
        Together().perform(RUNS[1:], store_in(tmp_path))
