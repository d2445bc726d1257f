"""PE210: a formula among the parameters."""

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters import load_subject
from gnomon.doctor import run
from tests.helpers.sinusoids import table, vaswani
from tests.helpers.subjects import holding, noise, value


class Holds(nn.Module):
    def __init__(self, values: Tensor, kind: str) -> None:
        super().__init__()
        if kind == "parameter":
            self.pe = nn.Parameter(values)
        elif kind == "frozen":
            self.pe = nn.Parameter(values, requires_grad=False)
        else:
            self.register_buffer("pe", values, persistent=kind == "buffer")


def sinusoids() -> Tensor:
    return table(vaswani, 30, 16).float()


def test_a_sinusoid_parameter_is_found() -> None:
    result = run("PE210", load_subject(Holds(sinusoids(), "parameter"), forward=False))
    [finding] = result.findings
    assert (result.severity, finding.where) == ("warning", "pe")
    assert "requires_grad: the optimizer and weight decay will move it" in finding.message
    assert finding.fix == "register it as a buffer with persistent=False, or set requires_grad to False"
    assert value(result, "pe is trained") == "True"


@pytest.mark.parametrize("kind", ["frozen", "buffer", "outside the state dict"])
def test_a_table_that_nothing_trains_passes(kind: str) -> None:
    result = run("PE210", load_subject(Holds(sinusoids(), kind), forward=False))
    assert (result.status, value(result, "pe is trained")) == ("passed", "False")


def test_a_learned_table_is_not_judged() -> None:
    result = run("PE210", load_subject(Holds(noise(30, 16), "parameter"), forward=False))
    assert result.status == "not-applicable"


def test_a_file_does_not_say_what_is_trained() -> None:
    result = run("PE210", holding({"pe": sinusoids()}))
    assert (result.status, result.detail) == (
        "not-applicable",
        "no sinusoid table in a module (a file does not say what is trained)",
    )


def test_without_a_table_it_is_not_applicable() -> None:
    assert run("PE210", load_subject(nn.Linear(2, 2), forward=False)).detail == (
        "no table of positions among the tensors"
    )


def test_the_buffer_of_a_healthy_whisper_encoder_passes() -> None:
    from tests.helpers.tiny_transformers import tiny_model

    torch.manual_seed(0)
    result = run("PE210", load_subject(tiny_model("whisper"), forward=False))
    assert (result.status, value(result, "encoder.embed_positions.weight is trained")) == ("passed", "False")
