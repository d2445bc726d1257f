"""PE612: memory of biases, counted from their shapes."""

import pytest
from torch import nn

from tests.gallery.cost.cost_01_bias_kept_by_every_layer import Drops, Keeps
from tests.gallery.cost.cost_10_bias_repeated_for_each_row import Expands, Repeats
from tests.helpers.gallery_deployment import BiasedLayer, ComputedAngles, Turned
from tests.helpers.healthy import MODELS
from tests.helpers.subjects import value
from tests.helpers.toys import examine

HEADS, LENGTH, FLOAT = 4, 61, 4
BIAS = HEADS * LENGTH**2 * FLOAT


def test_what_layers_keep_is_counted_and_grows_with_them() -> None:
    for layers in (2, 5):
        [finding] = examine("PE612", Turned(ComputedAngles(), layers=layers, layer=Keeps)).findings
        assert finding.measured["bytes"] == layers * BIAS
        assert finding.measured["needed"] == BIAS


def test_a_bias_repeated_over_the_batch_is_a_warning() -> None:
    result = examine("PE612", Turned(ComputedAngles(), layer=Repeats))
    assert result.severity == "warning"
    assert result.findings[0].measured["bytes"] == 2 * BIAS


def test_the_whole_bias_is_measured_at_the_longest_input() -> None:
    result = examine("PE612", Turned(ComputedAngles(), layer=Drops), lengths=[16_384])
    [finding] = result.findings
    assert result.severity == "note"
    assert finding.measured["bytes"] == pytest.approx(BIAS * (16_384 / 61) ** 2)
    assert value(result, "largest bias grows with the length to the power") == 2.0
    assert examine("PE612", Turned(ComputedAngles(), layer=Drops), lengths=[512]).status == "passed"


@pytest.mark.parametrize("layer", [BiasedLayer, Drops, Expands])
def test_rows_shared_biases_and_views_pass(layer: type[nn.Module]) -> None:
    result = examine("PE612", Turned(ComputedAngles(), layer=layer))
    assert result.status == "passed", result.findings


@pytest.mark.parametrize("name", ["bloom", "mpt", "falcon, alibi", "llama", "decoder, t5", "decoder, kerple log"])
def test_families_pass(name: str) -> None:
    assert examine("PE612", MODELS[name]()).status == "passed"
