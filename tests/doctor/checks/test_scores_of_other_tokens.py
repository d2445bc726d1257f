"""PE315: a score changes only with its own query and key."""

import pytest
import torch
from torch import Tensor

from tests.helpers.gallery_forms import Form, Rotated, Shifted, Sloped, transformer_xl
from tests.helpers.healthy import FOREIGN, MODELS
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, examine, only_finding

TERMS = ("decoder, transformer_xl", "encoder, transformer_xl", "encoder, deberta", "encoder, shaw")


class LastRowDropped(Shifted):
    def shift(self, x: Tensor) -> Tensor:
        batch, heads, queries, width = x.shape
        padded = torch.cat((x.new_zeros(batch, heads, queries, 1), x), dim=-1)
        return padded.view(batch, heads, width + 1, queries)[:, :, :-1].reshape(x.shape)


def test_a_shift_that_drops_the_wrong_row_is_found() -> None:
    result = examine("PE315", LastRowDropped(), claims=(transformer_xl(4, 8),))
    finding = only_finding(result)
    assert (finding.where, result.severity) == ("blocks.*", "error")
    # the row after the changed token holds the changed query's numbers
    assert (finding.measured["query"], finding.measured["changed token"]) == (6, 5)
    assert "drop the first row" in finding.fix


def test_without_a_claim_it_is_a_warning() -> None:
    assert examine("PE315", LastRowDropped()).severity == "warning"


@pytest.mark.parametrize("model", [Form(), Rotated(), Sloped(), Shifted(), Toy()])
def test_plain_models_pass(model: Form | Toy) -> None:
    result = examine("PE315", model)
    assert result.status == "passed", (result.detail, result.findings)


@pytest.mark.parametrize("name", TERMS)
def test_position_terms_with_content_pass(name: str) -> None:
    assert examine("PE315", MODELS[name]()).status == "passed"


def test_families_pass() -> None:
    assert examine("PE315", tiny_model("xlnet")).status == "passed"
    assert examine("PE315", FOREIGN["bloom"]()).status == "passed"


def test_tokens_in_between_count_in_contextual_encodings() -> None:
    assert (
        examine("PE315", MODELS["decoder, cope"]()).detail == "the encoding counts the tokens between a query and a key"
    )


def test_a_model_without_attention_is_not_judged() -> None:
    assert examine("PE315", tiny_model("rwkv")).status == "not-applicable"
