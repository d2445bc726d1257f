"""PE316: a table added beside a rotation."""

import pytest
from torch import Tensor, nn

from gnomon.adapters.claims import Claim
from tests.helpers.gallery_forms import Rotated, rotary
from tests.helpers.healthy import FOREIGN
from tests.helpers.toys import Toy, examine, only_finding


class Both(Rotated):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(64, self.heads * self.head_dim)

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.table(positions)
        return x


@pytest.mark.parametrize(("claims", "severity"), [((rotary(8),), "warning"), ((), "note")])
def test_both_are_found(claims: tuple[Claim, ...], severity: str) -> None:
    result = examine("PE316", Both(), claims=claims)
    assert result.severity == severity
    assert only_finding(result).message.startswith("queries and keys are rotated (blocks.*), and positions are added")


def test_both_are_fine_where_the_config_says_so() -> None:
    claims = (rotary(8), Claim("learned", "embeddings", {}))
    assert examine("PE316", Both(), claims=claims).status == "passed"


def test_one_of_them_passes_or_is_not_judged() -> None:
    assert examine("PE316", FOREIGN["llama"]()).status == "passed"
    assert examine("PE316", Toy()).status == "not-applicable"
