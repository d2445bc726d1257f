"""Static checks on a checkpoint of any size read headers and tables of positions, nothing else."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters.checkpoints.safetensors_file import SafetensorsFile
from gnomon.adapters.module import ModuleTensors
from gnomon.doctor import diagnose
from gnomon.doctor.evidence.tables import tables_in
from tests.helpers.sparse_checkpoints import sparse_llama

FREQUENCIES = "model.layers.{}.self_attn.rotary_emb.inv_freq"


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Name and bytes of every tensor that is read from a file."""
    seen: list[tuple[str, int]] = []
    load = SafetensorsFile.load

    def watched(self: SafetensorsFile, name: str) -> Tensor:
        values = load(self, name)
        seen.append((name, values.nbytes))
        return values

    monkeypatch.setattr(SafetensorsFile, "load", watched)
    return seen


def frequencies(base: float) -> "np.ndarray[Any, Any]":
    return base ** (-np.arange(0, 128, 2) / 128)


def test_a_checkpoint_without_tables_is_examined_from_its_headers(tmp_path: Path, loaded: list[Any]) -> None:
    folder = sparse_llama(tmp_path / "llama")
    assert sum(file.stat().st_size for file in folder.iterdir()) > 140e9
    report = diagnose(folder, forward=False)
    assert (report.failed, report.crashed) == ((), ())
    assert loaded == []


def test_of_a_checkpoint_with_frequencies_only_those_are_read(tmp_path: Path, loaded: list[tuple[str, int]]) -> None:
    stored = {FREQUENCIES.format(layer): frequencies(1e4) for layer in (0, 79)}  # the config's base is 500,000
    report = diagnose(sparse_llama(tmp_path / "llama", values=stored), forward=False)
    [check] = [check for check in report.failed if check.code == "PE203"]
    assert {finding.where for finding in check.findings} == set(stored)
    assert {name for name, _ in loaded} == set(stored)
    assert {size for _, size in loaded} == {64 * 4}


def test_a_large_matrix_of_a_module_is_never_copied_to_see_that_it_is_no_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied: list[int] = []
    double = Tensor.double

    def watched(self: Tensor) -> Tensor:
        copied.append(self.numel())
        return double(self)

    monkeypatch.setattr(Tensor, "double", watched)
    module = nn.Sequential(nn.Linear(1500, 2000), nn.Embedding(3000, 1500))
    assert tables_in(ModuleTensors(module), ()) == ()
    assert max(copied) <= 2 * 64 * 3000  # 64 rows, then 64 columns


def test_a_wide_table_of_noise_is_not_fitted_and_a_sinusoid_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.helpers import sinusoids

    rows, dims = 1030, 1024
    noise = torch.randn(rows, dims, generator=torch.Generator().manual_seed(0))
    positions = torch.arange(rows, dtype=torch.float64)[:, None]
    angles = positions * 10_000.0 ** (-torch.arange(0, dims, 2, dtype=torch.float64) / dims)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    assert abs(float(waves[1000, 3]) - sinusoids.vaswani(1000, 3, dims, 1e4)) < 1e-9
    for values, expected in ((noise, None), (waves, 10_000.0), (waves.bfloat16(), 10_000.0)):
        module = nn.Module()
        module.pe = nn.Buffer(values.clone())
        [table] = tables_in(ModuleTensors(module), ())
        assert (table.sinusoid.base if table.sinusoid else None) == expected
