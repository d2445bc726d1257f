"""PE603: what a strict load leaves behind."""

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.gallery_deployment import BufferedAngles, ComputedAngles, Turned, angles, frequencies
from tests.helpers.healthy import MODELS
from tests.helpers.toys import DIM, Toy, examine, only_finding


class Frequencies(nn.Module):
    """Frequencies in a buffer that is not stored."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("inv_freq", frequencies(), persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        phases = torch.outer(torch.arange(x.shape[1], device=x.device).float(), self.get_buffer("inv_freq"))
        return phases.cos(), phases.sin()


class Forgetful(Frequencies):
    def reset_parameters(self) -> None:
        """Sets up everything but the frequencies."""


class Restoring(Frequencies):
    def reset_parameters(self) -> None:
        self.get_buffer("inv_freq").copy_(frequencies())


class Attribute(nn.Module):
    """A plain table, which a build on the meta device would leave there."""

    def __init__(self) -> None:
        super().__init__()
        self.cos, self.sin = angles(64)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.cos[: x.shape[1]].to(x.device), self.sin[: x.shape[1]].to(x.device)


class Rebuilt(Frequencies):
    """Lost too, but every forward writes it anew."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.get_buffer("inv_freq").copy_(frequencies())
        return super().forward(x)


def test_a_module_with_no_means_to_set_itself_up_is_noted_with_the_right_values() -> None:
    result = examine("PE603", Turned(Frequencies()))
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("note", "rotary.inv_freq")
    assert finding.measured["right values"] == pytest.approx([1, 0.1, 0.01, 0.001])
    assert finding.measured["effect"] > 0.1
    assert finding.message.endswith("of their size")
    assert "compute inv_freq of rotary in a reset_parameters method" in finding.fix


def test_a_method_that_forgets_it_is_a_warning() -> None:
    result = examine("PE603", Turned(Forgetful()))
    assert result.severity == "warning"
    assert "Forgetful.reset_parameters does not restore it" in only_finding(result).message


def test_plain_tables_are_lost_as_well() -> None:
    result = examine("PE603", Turned(Attribute()))
    assert {finding.where for finding in result.findings} == {"rotary.cos", "rotary.sin"}


@pytest.mark.parametrize("rotary", [Restoring, Rebuilt, ComputedAngles, lambda: BufferedAngles(persistent=True)])
def test_what_is_restored_rebuilt_computed_or_stored_passes(rotary: type[nn.Module]) -> None:
    result = examine("PE603", Turned(rotary()))
    assert result.status == "passed", result.findings


@pytest.mark.parametrize("name", ["llama", "llama, yarn", "gemma3, both kinds", "gpt-j", "bert", "decoder, yarn"])
def test_families_pass_by_what_loading_calls(name: str) -> None:
    result = examine("PE603", MODELS.get(name, MODELS["decoder, rotary yarn"])())
    assert result.status == "passed", result.findings
    lost, still = (m.value for m in result.measured)
    assert still == 0
    assert (float(lost) > 0) == (not name.startswith("decoder"))


def test_the_model_is_not_touched() -> None:
    model = Turned(Frequencies())
    examine("PE603", model)
    assert torch.equal(model.rotary.get_buffer("inv_freq"), frequencies())


class Added(Toy):
    """NaN goes through to the outputs where a table is added."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(DIM), persistent=False)

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        return super().embed(tokens, ids) * self.get_buffer("scale")


def test_outputs_that_are_not_numbers_are_said_to_be() -> None:
    finding = only_finding(examine("PE603", Added()))
    assert finding.measured["effect"] == float("inf")
    assert "outputs are NaN" in finding.message
