"""Claim 41."""

import builtins
from typing import Any

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.claims.onnx import EXPORTERS, LENGTH, OURS, Complex, Turned
from tests.helpers.claims import made_up, measure, measured_claim, verdict


def test_the_two_ways_to_rotate_are_one_rotation() -> None:
    q = torch.randn(2, 3, LENGTH, 8, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(Turned()(q), Complex()(q), atol=1e-6)


def test_the_rotation_written_out_goes_through() -> None:
    numbers = measure(41)
    assert numbers[f"{OURS}, {EXPORTERS[0]}"] == 1.0
    assert len(numbers) == 6


def test_export_fails_or_depends_and_says_who_takes_what() -> None:
    names = (OURS, "complex numbers", "torch.rot90")
    every: dict[str, float | tuple[float, ...]] = {f"{name}, {each}": 1.0 for name in names for each in EXPORTERS}
    assert verdict(41, every) == "fails"
    older = {**every, f"torch.rot90, {EXPORTERS[1]}": 0.0}
    assert verdict(41, older) == "depends"
    assert f"only {EXPORTERS[0]} takes torch.rot90" in measured_claim(41).judge(made_up(older)).seen
    assert verdict(41, {**every, f"{OURS}, {EXPORTERS[1]}": 0.0}) == "depends"


def test_without_onnxruntime_the_way_to_install_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == "onnxruntime":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(GnomonError, match=r"pip install 'gnomon\[onnx\]'"):
        measure(41)
