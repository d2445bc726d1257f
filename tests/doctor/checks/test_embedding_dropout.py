"""PE329: dropout falls once on the sum of words and positions."""

import pytest
import torch
from torch import Tensor, nn

from gnomon.doctor import run
from tests.helpers.gallery_forward import Sinusoids, Stack
from tests.helpers.healthy import FOREIGN
from tests.helpers.subjects import value
from tests.helpers.toys import DIM, Toy, examine, only_finding, subject_of

COUNT = "dropouts before the first attention"


class DropsAgain(Sinusoids):
    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.dropout(super().forward(x))
        return out


def stack(encoding: nn.Module) -> nn.Module:
    return Stack(encoding, batch_first=True)


def test_a_second_dropout_is_a_note_with_the_share_that_is_lost() -> None:
    result = examine("PE329", stack(DropsAgain(DIM, batch_first=True, dropout=0.1)))
    finding = only_finding(result)
    assert result.severity == "note"
    assert "dropout falls 2 times" in finding.message
    assert finding.measured["share"] == pytest.approx(0.19)


def test_one_dropout_passes() -> None:
    once = examine("PE329", stack(Sinusoids(DIM, batch_first=True, dropout=0.1)))
    assert (once.status, value(once, COUNT)) == ("passed", 1)


def test_none_at_all_is_measured_and_not_judged() -> None:
    class InTheBlockOnly(Toy):
        def __init__(self) -> None:
            super().__init__()
            self.layers[0].mix.append(nn.Dropout(0.1))  # type: ignore[union-attr,operator]

    result = examine("PE329", InTheBlockOnly())
    assert (result.status, value(result, COUNT)) == ("passed", 0)


@pytest.mark.parametrize("name", ["bert", "gpt-2"])
def test_families_that_drop_once_pass(name: str) -> None:
    assert value(examine("PE329", FOREIGN[name]()), COUNT) == 1


def test_the_generator_is_left_as_it_was() -> None:
    subject = subject_of(stack(Sinusoids(DIM, batch_first=True, dropout=0.1)))
    state = torch.random.get_rng_state()
    assert run("PE329", subject).status == "passed"
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_model_without_dropout_is_not_judged() -> None:
    assert examine("PE329", Toy()).detail == "the model has no dropout"
