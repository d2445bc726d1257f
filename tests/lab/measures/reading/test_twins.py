"""The same model without an encoding, and the time of both."""

import time

import pytest
import torch

from gnomon.encodings import NoPE
from gnomon.lab.measures.reading.clock import relative_speed
from gnomon.lab.measures.reading.pieces import layers
from gnomon.lab.measures.reading.twins import forward_and_backward, without_positions
from gnomon.lab.model import LabModel
from gnomon.lab.tasks.base import Batch
from tests.helpers.lab_measured import fresh

IDS = torch.arange(10).reshape(2, 5) % 7


@pytest.mark.parametrize("encoding", ["sinusoidal", "t5"])
def test_the_twin_is_the_model_without_an_encoding(encoding: str) -> None:
    trained, plain = fresh(encoding), fresh("nope")
    plain.model.load_state_dict(trained.model.state_dict(), strict=False)
    twin = without_positions(trained.model)
    assert torch.equal(twin(IDS), plain.model(IDS))
    assert not isinstance(layers(trained)[0].encoding, NoPE)


def test_no_gradient_is_kept() -> None:
    trained = fresh("t5")
    forward_and_backward(trained.model, IDS)
    assert all(parameter.grad is None for parameter in trained.model.parameters())


def test_a_model_that_takes_three_times_as_long_has_a_third_of_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    def run(model: LabModel, ids: torch.Tensor) -> None:
        clock[0] += 1.0 if isinstance(model.stack.encoding, NoPE) else 3.0

    assert relative_speed(fresh("t5"), Batch(IDS, IDS), run, repeats=3) == pytest.approx(1 / 3)
