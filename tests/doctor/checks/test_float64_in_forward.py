"""PE606: float64 on the device."""

import pytest
import torch

from tests.gallery.deployment.r7_float64_angles import InFloat64
from tests.helpers.gallery_deployment import ComputedAngles, Turned
from tests.helpers.healthy import MODELS
from tests.helpers.toys import examine, only_finding, subject_of


def test_float64_angles_are_found_at_their_line() -> None:
    finding = only_finding(examine("PE606", Turned(InFloat64())))
    assert finding.where == "rotary"
    assert "makes a float64 tensor (4,) on the device: deployment/r7_float64_angles.py:" in finding.message


class MadeOnTheHost(ComputedAngles):
    """A float64 table that the CPU makes, and casts before it moves."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        phases = torch.outer(torch.arange(x.shape[1]).double(), 10.0 ** -torch.arange(4).double())
        return phases.cos().float().to(x.device), phases.sin().float().to(x.device)


@pytest.mark.parametrize("model", [Turned(ComputedAngles()), Turned(MadeOnTheHost()), MODELS["llama"]()])
def test_float32_and_tables_of_the_host_pass(model: torch.nn.Module) -> None:
    assert examine("PE606", model).status == "passed"


def test_a_model_in_float64_is_not_judged() -> None:
    model = Turned(InFloat64()).double()
    subject = subject_of(model, module=model.eval())
    from gnomon.doctor import run

    result = run("PE606", subject)
    assert (result.status, result.detail) == ("not-applicable", "the model itself is examined in float64")
