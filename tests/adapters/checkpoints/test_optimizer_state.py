"""An optimizer's state: read as it was written, never run, refused in one sentence."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from gnomon.adapters.checkpoints.optimizer_state import optimizer_bytes, optimizer_file, read_optimizer_state
from gnomon.errors import GnomonError

STATE = {"state": {0: {"step": torch.tensor(2.0), "exp_avg": torch.arange(3.0)}}, "param_groups": [{"params": [0]}]}


@pytest.mark.parametrize("name", ["optimizer.pt", "optimizer.bin"])
def test_what_is_written_is_read_again_under_either_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(optimizer_bytes(STATE))
    held = read_optimizer_state(optimizer_file(tmp_path))
    assert held["param_groups"] == STATE["param_groups"]
    assert held["state"][0]["exp_avg"].tolist() == [0.0, 1.0, 2.0]


def test_a_folder_without_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "optimizer.pt").mkdir()
    with pytest.raises(GnomonError, match=r"has no optimizer\.pt and no optimizer\.bin"):
        optimizer_file(tmp_path)


class Bomb:
    def __reduce__(self) -> Any:
        return os.mkdir, ("exploded",)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda path: torch.save({"state": Bomb()}, path), "never runs a pickle"),
        (lambda path: path.write_bytes(b"nothing"), "never runs a pickle|not a usable PyTorch file"),
        (lambda path: torch.save({"weight": torch.zeros(2)}, path), "no state of an optimizer"),
        (lambda path: torch.save({"state": {0: 1.0}, "param_groups": []}, path), "for the state of each parameter"),
    ],
)
def test_other_files_are_refused_and_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Any, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    content(tmp_path / "optimizer.pt")
    with pytest.raises(GnomonError, match=said):
        read_optimizer_state(tmp_path / "optimizer.pt")
    assert not (tmp_path / "exploded").exists()
