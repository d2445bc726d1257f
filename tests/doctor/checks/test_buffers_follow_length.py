"""PE610: buffers after inputs of two lengths."""

import pytest
from torch import Tensor, nn

from tests.gallery.distributed.ddp_02_cache_registered_as_buffer import Recached
from tests.helpers.gallery_deployment import BufferedAngles, ComputedAngles, Turned
from tests.helpers.healthy import MODELS
from tests.helpers.toys import examine


def test_both_shapes_are_named() -> None:
    result = examine("PE610", Turned(Recached()))
    assert result.severity == "warning"
    assert [f.measured["shapes"] for f in result.findings] == [[(5, 4), (7, 4)]] * 2


class AppearsLate(ComputedAngles):
    """Registered by the first long input only."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        cos, sin = super().forward(x)
        if x.shape[1] > 6:
            self.register_buffer("kept", cos, persistent=False)
        return cos, sin


def test_a_buffer_that_only_long_inputs_make_is_found() -> None:
    [finding] = examine("PE610", Turned(AppearsLate())).findings
    assert "not there after 5 tokens and (7, 4) after 7" in finding.message


@pytest.mark.parametrize("model", [Turned(BufferedAngles()), MODELS["llama, dynamic"](), MODELS["bert"]()])
def test_buffers_of_one_size_pass(model: nn.Module) -> None:
    assert examine("PE610", model).status == "passed"


def test_a_model_without_buffers_is_not_judged() -> None:
    assert examine("PE610", Turned(ComputedAngles())).detail == "the model has no buffers"
