"""PE325: what was computed for a token stays when the text goes on."""

import pytest
from torch import Tensor

from gnomon.adapters.claims import Claim
from tests.helpers.healthy import FOREIGN
from tests.helpers.toys import ToyDecoder, examine, only_finding

CLAIMS = (Claim("learned", "embeddings", {"max_length": 64}),)


class RoundsAtTheLimit(ToyDecoder):
    """Builds its vectors anew, in half precision, once the input is as long as the table."""

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        rows = self.positions(ids)
        x: Tensor = self.words(tokens) + ((rows * 8).round() / 8 if tokens.shape[1] >= 64 else rows)
        return x


class DividesByTheLength(ToyDecoder):
    def ids(self, mask: Tensor) -> Tensor:
        return super().ids(mask) * 60 // mask.shape[1]


def test_a_table_rebuilt_at_the_limit_is_found_at_the_limit() -> None:
    result = examine("PE325", RoundsAtTheLimit(), claims=CLAIMS)
    finding = only_finding(result)
    assert result.severity == "error"
    assert "outputs of the first 63 tokens change" in finding.message
    assert finding.measured["length"] == 64
    assert "do not rebuild the table at the limit" in finding.fix


def test_positions_divided_by_the_length_are_found_at_every_length() -> None:
    finding = only_finding(examine("PE325", DividesByTheLength(), claims=CLAIMS))
    assert "of the lengths that were tried" in finding.message
    assert "not on the length" in finding.fix


def test_without_a_claim_it_is_a_warning() -> None:
    assert examine("PE325", DividesByTheLength()).severity == "warning"


@pytest.mark.parametrize("name", ["llama", "gpt-2", "bloom", "falcon, alibi", "gpt-j"])
def test_healthy_families_pass(name: str) -> None:
    result = examine("PE325", FOREIGN[name]())
    assert result.status == "passed"
    assert float(result.measured[0].value) < 1e-5


@pytest.mark.parametrize(
    ("name", "why"), [("bert", "looks both ways"), ("llama, dynamic", "stated to depend on the length")]
)
def test_models_in_which_it_may_change_are_not_judged(name: str, why: str) -> None:
    result = examine("PE325", FOREIGN[name]())
    assert result.status == "not-applicable"
    assert why in result.detail
