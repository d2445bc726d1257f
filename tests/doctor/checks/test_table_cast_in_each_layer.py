"""PE616: casts of one tensor by several modules."""

import pytest
from torch import nn

from tests.gallery.cost.compile_04_cast_in_each_layer import CastingLayer, CastOnce
from tests.helpers.gallery_deployment import ComputedAngles, Turned
from tests.helpers.healthy import MODELS
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import examine, only_finding


@pytest.mark.parametrize("layers", [2, 3])
def test_each_layer_that_casts_the_table_is_counted(layers: int) -> None:
    finding = only_finding(examine("PE616", Turned(ComputedAngles(), layers=layers, layer=CastingLayer)))
    assert finding.measured["casts"] == layers


@pytest.mark.parametrize(
    "model", [Turned(CastOnce(), layers=3, layer=CastingLayer), MODELS["llama"](), MODELS["decoder, alibi"]()]
)
def test_one_cast_for_all_layers_passes(model: nn.Module) -> None:
    result = examine("PE616", model)
    assert result.status == "passed", (result.findings, result.detail)


def test_a_model_of_images_is_not_judged() -> None:
    import torch

    result = examine("PE616", (tiny_model("vit"), {"pixel_values": torch.randn(2, 3, 12, 20)}))
    assert result.status == "not-applicable"
