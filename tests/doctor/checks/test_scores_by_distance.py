"""PE311: equal tokens at one distance have one score, at every place and in every length."""

import pytest
import torch
from torch import Tensor

from gnomon.adapters.claims import Claim
from tests.helpers.gallery_forms import Form, Rotated, Sloped, alibi
from tests.helpers.healthy import FOREIGN, MODELS
from tests.helpers.toys import Toy, examine, only_finding


class ByPlace(Sloped):
    """The distance to the first token is counted from place 7 on as one more."""

    def distance(self, length: int) -> Tensor:
        places = torch.arange(length) + (torch.arange(length) > 7)
        return (places[:, None] - places).abs()


class ByLength(Sloped):
    """Distances as parts of the length."""

    def distance(self, length: int) -> Tensor:
        return super().distance(length) / length


def test_a_score_that_depends_on_the_place_is_found() -> None:
    finding = only_finding(examine("PE311", ByPlace(), claims=(alibi(4),)))
    assert finding.where == "blocks.*"
    assert finding.measured["apart"] == pytest.approx(0.25, abs=1e-3)  # one step of the steepest head
    assert "equal tokens at one distance get other scores" in finding.message
    assert finding.severity == "error"


def test_a_score_that_depends_on_the_length_is_found() -> None:
    finding = only_finding(examine("PE311", ByLength(), claims=(alibi(4),)))
    assert finding.measured["lengths"] == [13, 19]
    assert "between an input of 13 tokens and one of 19" in finding.message


@pytest.mark.parametrize("model", [ByPlace(), ByLength()])
def test_without_a_claim_it_is_a_warning(model: Form) -> None:
    assert examine("PE311", model).severity == "warning"


@pytest.mark.parametrize("model", [Form(), Rotated(), Sloped()])
def test_plain_models_pass(model: Form) -> None:
    assert examine("PE311", model).status == "passed"


@pytest.mark.parametrize("encoding", ["t5", "transformer_xl", "deberta", "shaw", "xpos", "sandwich", "rotary yarn"])
def test_relative_encodings_pass(encoding: str) -> None:
    result = examine("PE311", MODELS[f"decoder, {encoding}"]())
    assert result.status == "passed", (result.detail, result.findings)


def test_positions_in_the_hidden_vectors_are_not_judged() -> None:
    for model in (Toy(), FOREIGN["gpt-2"]()):
        result = examine("PE311", model)
        assert result.status == "not-applicable"


def test_encodings_that_follow_the_place_on_purpose_are_not_judged() -> None:
    result = examine("PE311", ByPlace(), claims=(Claim("fire", "layers.*.attention", {}),))
    assert (result.status, result.detail) == (
        "not-applicable",
        "the model claims an encoding whose scores need not depend on the distance alone",
    )
