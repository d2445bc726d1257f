"""PE313: layers that rotate, against what the config says of each."""

from typing import Any

import pytest
from torch import Tensor

from tests.helpers.gallery_forms import Form, Rotated, rotary
from tests.helpers.healthy import SIZES
from tests.helpers.toys import Toy, examine, only_finding


class Some(Rotated):
    """Four layers, of which `still` do not rotate."""

    layers = 4
    still: tuple[int, ...] = (1,)

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        return x if layer in self.still else super().turn(x, positions, layer)


class EveryFourth(Some):
    still = (3,)


class Second(Some):
    still = (1, 3)


class NoLayer(Some):
    still = (0, 1, 2, 3)


def test_a_layer_that_should_rotate_is_named() -> None:
    finding = only_finding(examine("PE313", Some(), claims=(rotary(8),)))
    assert finding.where == "blocks.1"
    assert "1 of 4 layers (1) do not rotate queries and keys" in finding.message
    assert finding.measured == {"layers without": [1], "layers": 4}


def test_no_layer_that_rotates_is_found_when_rotary_is_claimed() -> None:
    assert "4 of 4 layers" in only_finding(examine("PE313", NoLayer(), claims=(rotary(8),))).message


def test_without_a_claim_an_irregular_gap_is_noted() -> None:
    result = examine("PE313", Some())
    assert (result.status, result.severity) == ("failed", "note")
    assert "in no regular turn" in only_finding(result).message


@pytest.mark.parametrize("model", [EveryFourth(), Second()])
def test_layers_without_in_regular_turn_pass(model: Form) -> None:
    result = examine("PE313", model)
    assert result.status == "passed", result.findings


def test_layers_that_the_config_leaves_out_pass() -> None:
    import transformers

    sizes = {**SIZES, "num_hidden_layers": 4, "num_key_value_heads": 2}
    model: Any = transformers.SmolLM3ForCausalLM(transformers.SmolLM3Config(**sizes)).eval()
    assert examine("PE313", model).status == "passed"
    model.model.layers[1].self_attn.use_rope = 0
    assert only_finding(examine("PE313", model)).measured["layers without"] == [1]


def test_a_model_without_rotations_is_not_judged() -> None:
    for model in (Toy(), Form()):
        result = examine("PE313", model)
        assert result.status == "not-applicable"
        assert "no rotary encoding is claimed" in result.detail
