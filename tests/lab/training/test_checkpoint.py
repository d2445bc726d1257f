"""A run that was stopped goes on to what it would have been."""

from pathlib import Path

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from tests.helpers.lab_training import small_run, weights


class Stopped(Exception):
    """Stands for the kill."""


def interrupted(folder: Path, step: int) -> None:
    """Train until `step` and then be killed."""

    def progress(done: int, total: int) -> None:
        if done == step:
            raise Stopped

    with pytest.raises(Stopped):
        small_run().trained(Context(seed=4, folder=folder, progress=progress))


@pytest.mark.parametrize("step", [3, 5, 11, 12], ids=["before the first", "at one", "after two", "after the last"])
def test_a_stopped_run_ends_with_the_very_weights_of_one_that_was_not(tmp_path: Path, step: int) -> None:
    undisturbed = small_run().trained(Context(seed=4))
    interrupted(tmp_path, step)
    steps_made: list[int] = []
    resumed = small_run().trained(Context(seed=4, folder=tmp_path, progress=lambda done, _: steps_made.append(done)))
    assert steps_made == list(range({3: 0, 5: 5, 11: 10, 12: 12}[step] + 1, 13))
    assert resumed.history.losses == undisturbed.history.losses
    assert resumed.history.gradient_norms == undisturbed.history.gradient_norms
    assert torch.equal(weights(resumed), weights(undisturbed))


def test_seconds_add_up_over_sittings(tmp_path: Path) -> None:
    interrupted(tmp_path, 11)
    resumed = small_run().trained(Context(seed=4, folder=tmp_path))
    stored = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    assert stored["history"]["seconds"] == pytest.approx(resumed.history.seconds)


def test_without_a_folder_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small_run().trained(Context(seed=4))
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"PK\x03\x04 half a file"])
def test_a_broken_checkpoint_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "checkpoint.pt").write_bytes(content)
    with pytest.raises(GnomonError, match=r"checkpoint.pt does not fit this run .*; remove it"):
        small_run().trained(Context(seed=4, folder=tmp_path))
    assert (tmp_path / "checkpoint.pt").read_bytes() == content


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    interrupted(tmp_path, 6)
    other = small_run(model={"dim": 24, "num_heads": 2, "encoding": {"encoding": "rotary"}})
    with pytest.raises(GnomonError, match="does not fit this run"):
        other.trained(Context(seed=4, folder=tmp_path))
