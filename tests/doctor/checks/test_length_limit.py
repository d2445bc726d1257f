"""PE323: the stated length runs, and what is too long is told so."""

from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.adapters.claims import Claim
from tests.helpers.healthy import FOREIGN
from tests.helpers.subjects import value
from tests.helpers.toys import Toy, ToyDecoder, examine, llama, only_finding


class SaysSo(Toy):
    def ids(self, mask: Tensor) -> Tensor:
        if mask.shape[1] > self.positions.num_embeddings:
            raise ValueError(f"{mask.shape[1]} tokens are too many; the table has {self.positions.num_embeddings} rows")
        return super().ids(mask)


class AddsTheWholeTable(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.positions.weight
        return x


def learned(rows: int) -> dict[str, Any]:
    return {"claims": (Claim("learned", "embeddings", {"max_length": rows}),)}


def test_a_model_that_fails_within_its_stated_length_is_an_error_with_both_numbers() -> None:
    result = examine("PE323", Toy(rows=20), **learned(80))
    finding = only_finding(result)
    assert result.severity == "error"
    assert "80 positions are stated, and length 21 fails" in finding.message
    assert "look for the literal 20" in finding.fix
    assert (finding.measured["runs"], finding.measured["stated"]) == (20, 80)


def test_a_stated_length_that_is_too_long_to_run_is_tried_by_position_ids() -> None:
    result = examine("PE323", Toy(rows=700), **learned(8192))
    finding = only_finding(result)
    assert "position id 700 fails" in finding.message
    assert examine("PE323", Toy(rows=8192), **learned(8192)).status == "passed"


def test_an_obscure_error_at_a_length_that_nothing_states_is_a_note_with_the_limit() -> None:
    result = examine("PE323", Toy(rows=50))
    finding = only_finding(result)
    assert result.severity == "note"
    assert "the longest input is 50 tokens" in finding.message
    assert "names the length given (51) and the longest allowed (50)" in finding.fix


def test_an_error_that_names_both_numbers_passes() -> None:
    result = examine("PE323", SaysSo(rows=50))
    assert result.status == "passed"
    assert value(result, "longest that runs, by length") == 50


def test_a_bias_that_ends_where_its_encoding_has_no_end_is_found() -> None:
    class FixedBias(ToyDecoder):
        def bias(self, mask: Tensor) -> Tensor:
            return super().bias(mask) + torch.zeros(1, 1, 40, 40)[..., : mask.shape[1], : mask.shape[1]]

    model = FixedBias(rows=700)
    finding = only_finding(examine("PE323", model, claims=(Claim("alibi", "layers.*", {}),)))
    assert "alibi has no longest input, but length 41 fails" in finding.message


def test_a_table_that_is_added_whole_is_found() -> None:
    model = AddsTheWholeTable(rows=12)
    finding = only_finding(examine("PE323", (model, (torch.randint(5, 40, (2, 12)),)), claims=()))
    assert "exactly 12 tokens" in finding.message
    assert "cut the table to the input" in finding.fix


@pytest.mark.parametrize("name", ["llama", "bert", "gpt-2", "bloom", "opt", "roberta"])
def test_healthy_families_pass(name: str) -> None:
    assert examine("PE323", FOREIGN[name]()).status == "passed"


def test_a_length_that_cannot_be_tried_is_not_judged() -> None:
    class WithoutIds(Toy):
        def forward(self, tokens: Tensor) -> Tensor:  # type: ignore[override]
            return super().forward(tokens)

    result = examine("PE323", WithoutIds(rows=64), **learned(4096))
    assert result.status == "not-applicable"
    assert "4096 positions are more than one forward tries here (600)" in result.detail
    assert examine("PE323", llama(max_position_embeddings=4096)).status == "passed"
