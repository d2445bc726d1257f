"""PE309: the sinusoids that really reach the first block."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from gnomon.adapters.claims import Claim
from gnomon.encodings import Sinusoidal
from tests.helpers.healthy import FOREIGN, decoder
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import DIM, Toy, examine, only_finding

CLAIM = Claim("sinusoidal", "embeddings", {"dim": DIM, "layout": "interleaved", "base": 10_000.0})


def sinusoids(ids: Tensor, base: float = 10_000.0) -> Tensor:
    """The published formula, column by column."""
    columns = []
    for i in range(DIM // 2):
        angles = ids.double() / base ** (2 * i / DIM)
        columns += [angles.sin(), angles.cos()]
    return torch.stack(columns, dim=-1).float()


class Computing(Toy):
    """Adds vectors that are computed when called; nothing is stored."""

    def __init__(self, compute: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        del self.positions
        self.compute = compute

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.compute(ids)
        return x


def test_the_published_formula_passes() -> None:
    result = examine("PE309", Computing(sinusoids), claims=(CLAIM,))
    assert result.status == "passed", result.findings
    assert result.measured[0].value == pytest.approx(10_000)
    assert result.measured[1].value == 0


def test_another_base_than_claimed_is_named() -> None:
    result = examine("PE309", Computing(lambda ids: sinusoids(ids, 500.0)), claims=(CLAIM,))
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.where == "layers.0"
    assert finding.measured["base"] == pytest.approx(500)
    assert "base 500, not 10000" in finding.message


def test_a_flipped_sine_is_found_without_a_claim() -> None:
    flip = torch.tensor([-1.0, 1.0]).repeat(DIM // 2)
    finding = only_finding(examine("PE309", Computing(lambda ids: sinusoids(ids) * flip)))
    assert finding.measured == {"sine sign": -1}


def test_a_start_at_one_is_found() -> None:
    finding = only_finding(examine("PE309", Computing(lambda ids: sinusoids(ids + 1))))
    assert finding.measured["shift"] == pytest.approx(1)
    assert finding.severity == "error"


def test_a_start_at_two_is_what_fairseq_models_do() -> None:
    result = examine("PE309", Computing(lambda ids: sinusoids(ids + 2)))
    assert result.severity == "note"
    assert examine("PE309", Computing(lambda ids: sinusoids(ids + 2)), claims=(CLAIM,)).severity == "error"


def test_a_claimed_order_of_columns_that_is_another_is_found() -> None:
    claim = Claim("sinusoidal", "embeddings", {**CLAIM.options, "layout": "half"})
    finding = only_finding(examine("PE309", Computing(sinusoids), claims=(claim,)))
    assert finding.measured == {"layout": "interleaved", "claimed layout": "half"}


def test_claimed_sinusoids_that_were_overwritten_are_found() -> None:
    noise = torch.randn(64, DIM, generator=torch.Generator().manual_seed(0))
    finding = only_finding(examine("PE309", Computing(lambda ids: noise[ids]), claims=(CLAIM,)))
    assert "are no sinusoids" in finding.message
    assert "initialiser" in finding.fix


@pytest.mark.parametrize("options", [{}, {"layout": "half"}, {"scale": "sqrt_dim"}, {"base": 500.0}])
def test_our_own_sinusoids_pass_in_every_form(options: dict[str, object]) -> None:
    result = examine("PE309", decoder(Sinusoidal(DIM, **options)))  # type: ignore[arg-type]
    assert result.status == "passed", result.findings


def test_learned_vectors_are_not_judged() -> None:
    result = examine("PE309", FOREIGN["bert"]())
    assert result.status == "not-applicable"
    assert "learned vectors have no formula" in result.detail


def test_a_rotary_model_is_not_judged() -> None:
    result = examine("PE309", FOREIGN["llama"]())
    assert result.detail == "no positions are added to the embeddings along the sequence"


def test_the_reference_of_these_tests_is_the_published_one() -> None:
    row = sinusoids(torch.tensor([[7]]))[0, 0]
    assert row[0] == pytest.approx(math.sin(7), abs=1e-6)
    assert row[3] == pytest.approx(math.cos(7 / 10_000 ** (2 / DIM)), abs=1e-6)


@pytest.mark.parametrize(("first", "status"), [(2, "passed"), (0, "failed"), (1, "failed")])
def test_a_claim_may_start_behind_reserved_positions(first: int, status: str) -> None:
    claim = Claim("sinusoidal", "embeddings", {**CLAIM.options, "padding_offset": 2})
    result = examine("PE309", Computing(lambda ids: sinusoids(ids + first)), claims=(claim,))
    assert result.status == status
    if status == "failed":
        assert only_finding(result).fix == "start counting positions at 2"


def test_m2m100_starts_behind_its_padding() -> None:
    assert examine("PE309", tiny_model("m2m_100")).status == "passed"
