"""PE604: fixed tables beside those of a fresh build."""

import pytest
import torch
from torch import nn

from tests.helpers.gallery_deployment import BufferedAngles, Turned
from tests.helpers.healthy import MODELS
from tests.helpers.toys import ToyDecoder, examine, llama, only_finding


def build() -> nn.Module:
    return Turned(BufferedAngles())


def test_zeros_in_place_of_frequencies_are_found_with_the_right_ones() -> None:
    model = llama()
    model.model.rotary_emb.inv_freq.zero_()
    finding = only_finding(examine("PE604", model))
    assert finding.where == "model.rotary_emb.inv_freq"
    assert finding.measured["right values"] == "1, 0.1, 0.01, 0.001"
    assert "copy inv_freq of model.rotary_emb from a fresh build" in finding.fix


def test_nan_and_another_shape_are_found_too() -> None:
    model = build()
    model.get_submodule("rotary").get_buffer("cos")[3, 0] = torch.nan
    assert only_finding(examine("PE604", model, factory=build)).where == "rotary.cos"
    longer = Turned(BufferedAngles(rows=80))
    assert len(examine("PE604", longer, factory=build).findings) == 2


def test_frequencies_that_follow_the_length_are_a_warning() -> None:
    model = llama(rope_parameters={"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0})
    model.model.rotary_emb.inv_freq.mul_(0.5)
    assert examine("PE604", model).severity == "warning"


def test_a_rounded_table_is_no_fault_here() -> None:
    model = build().to(torch.bfloat16).float()
    assert examine("PE604", model, factory=build).status == "passed"


class Drawn(ToyDecoder):
    """A buffer that is drawn at random, as Fourier features are: no two builds agree on it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("noise", torch.randn(3, generator=torch.Generator().manual_seed(torch.seed())))
        self.register_buffer("fixed", torch.tensor([0.0, -torch.inf]))


def test_what_is_drawn_is_left_out_and_infinities_may_be_meant() -> None:
    result = examine("PE604", Drawn(), factory=Drawn)
    assert result.status == "passed"
    assert [m.name for m in result.measured] == ["difference of fixed from a fresh build"]


@pytest.mark.parametrize("name", ["llama", "phi3, longrope", "gpt-j", "gemma3, both kinds"])
def test_families_pass(name: str) -> None:
    assert examine("PE604", MODELS[name]()).status == "passed"


def test_building_leaves_the_random_state_alone() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    model = llama()
    torch.random.set_rng_state(before)
    examine("PE604", model)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("model", "evidence", "reason"),
    [
        (build(), {}, "pass factory="),
        (build(), {"factory": lambda: 3}, "the factory gives a int, not a module"),
        (build(), {"factory": lambda: 1 / 0}, "a fresh build fails: ZeroDivisionError"),
        (ToyDecoder(), {"factory": ToyDecoder}, "no fixed table in a buffer"),
    ],
)
def test_without_a_fresh_build_nothing_is_judged(model: nn.Module, evidence: dict[str, object], reason: str) -> None:
    result = examine("PE604", model, **evidence)
    assert result.status == "not-applicable"
    assert reason in result.detail
