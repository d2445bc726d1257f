"""PE607: complex numbers in a forward."""

import pytest
from torch import nn

from tests.gallery.export.export_01_polar import ComplexLayer
from tests.helpers.gallery_deployment import BufferedAngles, ComputedAngles, Turned
from tests.helpers.healthy import MODELS
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import examine


def test_each_layer_that_turns_by_complex_products_is_named() -> None:
    result = examine("PE607", Turned(BufferedAngles(), layer=ComplexLayer))
    assert [f.where for f in result.findings] == ["layers.0", "layers.1"]
    assert all("polar" in f.message and "view_as_complex" in f.message for f in result.findings)


def test_llama_4_is_written_with_complex_numbers() -> None:
    result = examine("PE607", tiny_model("llama4_text"))
    assert result.severity == "note"
    assert result.findings[0].where == "rotary_emb"


@pytest.mark.parametrize("model", [Turned(ComputedAngles()), MODELS["llama"](), MODELS["decoder, alibi"]()])
def test_real_arithmetic_passes(model: nn.Module) -> None:
    assert examine("PE607", model).status == "passed"
