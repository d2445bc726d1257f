"""PE511: batches that ask for rows that are not there."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.gallery_training import BareTable
from tests.helpers.subjects import value
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, examine, only_finding


def ids(length: int, batch: int = 2) -> Tensor:
    return torch.arange(batch * length).reshape(batch, length) % 30 + 3


@pytest.mark.parametrize("model", [Toy, BareTable])
def test_a_text_longer_than_the_table_is_named_with_both_numbers(model: type[Toy]) -> None:
    result = examine("PE511", model(), batches=[{"tokens": ids(20)}, {"tokens": ids(80)}])
    finding = only_finding(result)
    assert result.severity == "error"
    assert "position" in finding.where
    assert finding.measured["batch"] == 1
    if model is Toy:  # a plain index fails with torch's own error
        assert finding.measured["row"] == 79
        assert "cut inputs to 64 tokens, or give the table 80 rows" in finding.fix


def test_one_token_too_many_is_enough() -> None:
    assert only_finding(examine("PE511", Toy(), batches=[{"tokens": ids(65)}])).measured["row"] == 64
    assert examine("PE511", Toy(), batches=[{"tokens": ids(64)}]).status == "passed"


def test_reserved_rows_count() -> None:
    result = examine("PE511", tiny_model("roberta"), batches=[{"input_ids": ids(36)}])
    finding = only_finding(result)
    assert finding.where == "embeddings.position_embeddings.weight"
    assert "35 tokens" in finding.fix


def test_one_token_less_passes() -> None:
    result = examine("PE511", tiny_model("roberta"), batches=[{"input_ids": ids(35)}])
    assert result.status == "passed"
    assert value(result, "greatest row read of embeddings.position_embeddings.weight") == 36


class Boxed(nn.Module):
    """Words and a table of x coordinates, as in models of page layouts."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.x_position_embeddings = nn.Embedding(40, 8), nn.Embedding(1024, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)

    def forward(self, input_ids: Tensor, bbox: Tensor) -> Tensor:
        out: Tensor = self.layer(self.words(input_ids) + self.x_position_embeddings(bbox[..., 0]))
        return out


def boxed(x: int) -> tuple[nn.Module, dict[str, Tensor]]:
    return Boxed(), {"input_ids": ids(5), "bbox": torch.full((2, 5, 4), x)}


def test_boxes_are_to_be_scaled() -> None:
    model, _ = boxed(0)
    result = examine("PE511", (model, boxed(7)[1]), batches=[boxed(1300)[1]])
    finding = only_finding(result)
    assert finding.where == "x_position_embeddings.weight"
    assert "0..1000" in finding.fix
    assert examine("PE511", (model, boxed(7)[1]), batches=[boxed(1000)[1]]).status == "passed"


def test_negative_ids_are_found() -> None:
    batch = {"tokens": ids(6), "position_ids": torch.arange(6)[None] - 2}
    finding = only_finding(examine("PE511", Toy(), batches=[batch]))
    assert finding.measured["row"] == -2
    assert "from_mask" in finding.fix


def test_a_length_that_the_forward_itself_refuses_is_explained() -> None:
    finding = only_finding(examine("PE511", tiny_model("bert"), batches=[{"input_ids": ids(50)}]))
    assert "37" in f"{finding.message} {finding.fix}"


def test_a_slice_beyond_the_table_is_found() -> None:
    class Sliced(Toy):
        def embed(self, tokens: Tensor, places: Tensor) -> Tensor:
            x: Tensor = self.words(tokens) + self.positions.weight[: tokens.shape[1]]
            return x

    assert only_finding(examine("PE511", Sliced(), batches=[{"tokens": ids(70)}])).measured["row"] == 69
    result = examine("PE511", Sliced(), batches=[{"tokens": ids(64)}])
    assert (result.status, value(result, "greatest row read of positions.weight")) == ("passed", 63)


def test_a_batch_that_fails_for_another_reason_is_not_judged() -> None:
    result = examine("PE511", Toy(), batches=[{"tokens": torch.full((1, 4), 99)}])
    assert result.status == "not-applicable"
    assert "fails on batch 0" in result.detail


def test_batches_are_tuples_or_mappings_with_what_else_a_loader_gives() -> None:
    batches: Any = [(ids(5),), {"tokens": ids(5), "uid": 3}, ids(5)]
    assert examine("PE511", Toy(), batches=batches).status == "passed"


def test_without_batches_it_is_not_applicable() -> None:
    assert examine("PE511", Toy()).detail == "no batches"
    assert examine("PE511", Toy(), batches=[]).detail == "the list of batches is empty"


def test_a_model_without_tables_is_not_judged() -> None:
    result = examine("PE511", tiny_model("t5"), batches=[{"input_ids": ids(5), "decoder_input_ids": ids(4)}])
    assert result.status == "not-applicable"
