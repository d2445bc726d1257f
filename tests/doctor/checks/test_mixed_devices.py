"""PE602: what a second device would find, without one."""

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.gallery_deployment import BufferedAngles, ComputedAngles, Turned, angles
from tests.helpers.healthy import MODELS
from tests.helpers.healthy_plain import PLAIN
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, ToyDecoder, examine, only_finding


class OnTheHost(ToyDecoder):
    def ids(self, mask: Tensor) -> Tensor:
        return torch.arange(mask.shape[1]).expand(mask.shape)


def test_a_bare_arange_is_found_at_its_line() -> None:
    finding = only_finding(examine("PE602", OnTheHost()))
    assert finding.where == "positions"
    assert "embedding meets a tensor (2, 4) that stays on the CPU" in finding.message
    assert finding.measured["origin"].startswith("checks/test_mixed_devices.py:")
    assert "pass device= in checks/test_mixed_devices.py:" in finding.fix


class Branches(Toy):
    """Looks at values and at devices, which a run on the meta device could not."""

    def ids(self, mask: Tensor) -> Tensor:
        assert mask.device == self.words.weight.device
        length = int(mask.sum(1).max())
        return torch.arange(length, device=mask.device).expand(mask.shape)


@pytest.mark.parametrize(
    "model",
    [Branches(), ToyDecoder(), Turned(BufferedAngles()), Turned(ComputedAngles())],
    ids=lambda model: type(model).__name__,
)
def test_code_that_passes_devices_on_is_silent(model: nn.Module) -> None:
    result = examine("PE602", model)
    assert result.status == "passed", (result.detail, result.findings)
    assert [m.value for m in result.measured] == [0, 0]


@pytest.mark.parametrize("name", ["llama", "phi3, longrope", "gpt-j", "bloom", "bert", "decoder, randomized rotary"])
def test_families_pass(name: str) -> None:
    assert examine("PE602", MODELS[name]()).status == "passed"


def test_a_model_of_images_is_examined_too() -> None:
    assert examine("PE602", (tiny_model("vit"), {"pixel_values": torch.randn(2, 3, 12, 20)})).status == "passed"


class Scalars(Toy):
    """Numbers without axes, rows picked by indices of the host, and copies into a buffer may cross devices."""

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x = super().embed(tokens, ids) * torch.tensor(2.0)
        x[:, torch.arange(1)] = x[:, torch.arange(1)] * 1.0
        room = torch.empty_like(x)
        room.copy_(x)
        return room


def test_what_torch_allows_across_devices_is_silent() -> None:
    assert examine("PE602", Scalars()).status == "passed"


class Kept(nn.Module):
    """Tables in a list of a dictionary, which no `.to` reaches."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = {"tables": [*angles(64)]}

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        cos, sin = self.kept["tables"]
        return cos[: x.shape[1]], sin[: x.shape[1]]


def test_tables_inside_containers_are_found() -> None:
    finding = only_finding(examine("PE602", Turned(Kept())))
    assert finding.measured["origin"] == "plain attribute rotary.kept"


def test_the_model_s_own_tensors_are_left_as_they_are() -> None:
    model = Turned(BufferedAngles())
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    attributes = {name: set(vars(part)) for name, part in model.named_modules()}
    examine("PE602", model)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert {name: set(vars(part)) for name, part in model.named_modules()} == attributes
    assert torch.ones(1).device == torch.device("cpu")


def test_a_model_that_cannot_be_called_is_not_judged() -> None:
    result = examine("PE602", nn.LSTM(4, 4))
    assert result.status == "not-applicable"


def test_a_table_that_is_sent_to_the_words_in_each_forward_is_silent() -> None:
    result = examine("PE602", PLAIN["fairseq, a table that is sent along"]())
    assert [finding.severity for finding in result.findings] == ["note"], result.findings
