"""PE306: where positions enter, how many times, along which axis."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters.claims import Claim
from gnomon.encodings import Learned, Sinusoidal
from gnomon.models import EmbeddingOptions
from tests.helpers.healthy import decoder, encoder
from tests.helpers.healthy_plain import PLAIN
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import DIM, OverTheBatch, Toy, examine, only_finding

Add = Callable[[Tensor, Tensor], Tensor]


class Adding(Toy):
    """Joins words and table rows as `add` says."""

    def __init__(self, add: Add, **options: Any) -> None:
        super().__init__(**options)
        self.add = add

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        return self.add(self.words(tokens), self.positions(ids))


class Late(Toy):
    """Positions are added after the first layer."""

    def forward(
        self, tokens: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
    ) -> Tensor:
        mask = torch.ones(tokens.shape)
        x = self.layers[0](self.words(tokens), self.bias(mask)) + self.positions(self.ids(mask))
        out: Tensor = self.layers[1](x, self.bias(mask))
        return out


class FromOne(Toy):
    def ids(self, mask: Tensor) -> Tensor:
        return super().ids(mask) + 1


def test_a_table_added_twice_is_counted() -> None:
    result = examine("PE306", Adding(lambda words, rows: words + rows + rows))
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.where == "layers.0"
    assert finding.measured["times"] == pytest.approx(2, abs=1e-3)
    assert finding.message == "the table is added 2 times (2.000 times its values)"
    assert "second call" in finding.fix


def test_a_table_that_is_subtracted_is_found() -> None:
    finding = only_finding(examine("PE306", Adding(lambda words, rows: words - rows)))
    assert finding.message == "the table is subtracted (-1.000 times its values)"


def test_a_table_that_is_masked_out_never_arrives() -> None:
    finding = only_finding(examine("PE306", Adding(lambda words, rows: words + 0 * rows)))
    assert finding.message.startswith("positions never arrive")
    assert finding.measured["coefficient"] == 0
    assert "multiplied by zero" in finding.fix


def test_a_table_that_arrives_shrunk_to_nearly_nothing_is_found() -> None:
    finding = only_finding(examine("PE306", Adding(lambda words, rows: words + 9e-4 * rows)))
    assert finding.message == "the table arrives multiplied by nearly zero"


def test_positions_along_the_batch_axis_are_found() -> None:
    finding = only_finding(examine("PE306", OverTheBatch()))
    assert finding.measured == {"axis": "batch"}
    assert "along the batch axis and not along the sequence" in finding.message


def test_positions_that_enter_after_an_attention_are_found() -> None:
    finding = only_finding(examine("PE306", Late()))
    assert finding.where == "layers.1"
    assert finding.measured == {"attentions before": 1}
    assert finding.message == "positions enter after 1 attentions: the layers before are blind to order"


def test_a_start_at_row_one_is_only_noted_where_nothing_says_which_row_is_position_0() -> None:
    result = examine("PE306", FromOne())
    assert result.severity == "note"
    assert only_finding(result).measured == {"shift": 1}


def test_a_start_at_row_one_is_an_error_where_a_claim_says_otherwise() -> None:
    claim = Claim("learned", "embeddings", {"max_length": 64, "rows": 64}, {}, (r"^positions\.weight$",))
    result = examine("PE306", FromOne(), claims=(claim,))
    assert result.severity == "error"
    assert "off by one" in only_finding(result).message


@pytest.mark.parametrize(
    "model",
    [
        Adding(lambda words, rows: words * DIM**0.5 + rows),
        Adding(lambda words, rows: words + rows / DIM**0.5),
        decoder(Sinusoidal(32), embedding=EmbeddingOptions(scale="sqrt_dim")),
        encoder(Learned(64, 32, padding_offset=2)),
    ],
)
def test_scales_on_either_side_and_reserved_rows_are_healthy(model: nn.Module) -> None:
    result = examine("PE306", model)
    assert result.status == "passed", result.findings


@pytest.mark.parametrize("family", ["gpt2", "albert", "bert", "roberta", "opt"])
def test_small_untrained_tables_are_not_mistaken_for_several_additions(family: str) -> None:
    """Redrawn weights scale tables of std 0.02 by ten: "added 10 times" was a false alarm."""
    result = examine("PE306", tiny_model(family))
    assert result.status == "passed", result.findings
    times = next(m.value for m in result.measured if m.name == "times the table is added")
    assert times == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("family", ["roformer", "llama", "bloom"])
def test_models_that_add_nothing_are_not_judged(family: str) -> None:
    result = examine("PE306", tiny_model(family))
    assert (result.status, result.detail) == ("not-applicable", "the model adds no positions to its embeddings")


def test_hidden_vectors_of_another_length_are_not_judged() -> None:
    class Padded(Toy):
        """Works on a length that is a multiple of its window, as Longformer does."""

        def forward(
            self, tokens: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
        ) -> Tensor:
            longer = nn.functional.pad(tokens, (0, 7))
            return self.layers[0].norm(super().forward(longer)[:, :-7])  # type: ignore[union-attr,operator,no-any-return]

    result = examine("PE306", Padded())
    assert result.status == "not-applicable"
    assert "another shape than (batch, sequence)" in result.detail


def test_a_convolution_after_attention_adds_no_positions() -> None:
    result = examine("PE306", PLAIN["conformer, table of offsets"]())
    assert result.status == "not-applicable"
    assert "mixes the tokens before it" in result.detail
