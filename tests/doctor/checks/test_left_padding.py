"""PE401: padding on the left changes the tokens after it."""

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.healthy import FOREIGN, SIZES
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, ToyDecoder, examine, only_finding


class DropsTheMask(ToyDecoder):
    def bias(self, mask: Tensor) -> Tensor:
        return super().bias(torch.ones_like(mask))


class CountsSlots(ToyDecoder):
    def ids(self, mask: Tensor) -> Tensor:
        return torch.arange(mask.shape[1]).expand(mask.shape)


class CountsSlotsAlone(CountsSlots):
    """And offers no position ids to put it right."""

    def forward(self, tokens: Tensor, attention_mask: Tensor | None = None) -> Tensor:  # type: ignore[override]
        return super().forward(tokens, attention_mask)


def test_gpt_2_counts_padding_and_is_warned_about() -> None:
    """A live fault of transformers 5.24: a bare forward reads rows 4, 5, ... after 4 pads."""
    result = examine("PE401", FOREIGN["gpt-2"]())
    finding = only_finding(result)
    assert result.severity == "warning"
    assert finding.where == "the forward"
    assert finding.measured["pads"] == 4
    assert finding.measured["effect"] > 0.1
    assert "padding is counted" in finding.message
    assert "until then pass position_ids yourself" in finding.fix


def test_counting_slots_is_an_error_where_no_ids_can_be_passed() -> None:
    result = examine("PE401", CountsSlotsAlone())
    assert result.severity == "error"
    assert only_finding(result).fix == "derive position ids from the mask, for each row"


def test_a_mask_that_is_dropped_is_an_error_even_with_the_right_ids() -> None:
    result = examine("PE401", DropsTheMask())
    assert result.severity == "error"
    finding = only_finding(result)
    assert finding.message.startswith("with mask and position ids passed, left padding still changes outputs by ")
    assert "mask out padded keys" in finding.fix


@pytest.mark.parametrize("name", ["llama", "gpt-j", "opt", "bloom", "mpt", "falcon, alibi", "decoder, learned"])
def test_families_that_heed_the_mask_pass(name: str) -> None:
    from tests.helpers.healthy import MODELS

    result = examine("PE401", MODELS[name]())
    assert result.status == "passed", (result.detail, result.findings)


def test_a_decoder_whose_ids_are_rows_after_the_padding_row_passes() -> None:
    """RoBERTa: its own ids start at padding id + 1 and are derived from the padding id, not from the mask."""
    import transformers

    torch.manual_seed(0)
    model = transformers.RobertaForCausalLM(transformers.RobertaConfig(**SIZES, is_decoder=True)).eval()
    result = examine("PE401", model)
    assert result.status == "passed", result.findings


def test_one_vector_of_positions_for_rows_padded_differently_is_found() -> None:
    class FromTheFirstRow(ToyDecoder):
        def ids(self, mask: Tensor) -> Tensor:
            return super().ids(mask[:1]).expand(len(mask), -1)

    result = examine("PE401", FromTheFirstRow())
    finding = only_finding(result)
    assert "(one row padded)" in finding.message
    assert "every row padded" in result.measured[0].name
    assert float(result.measured[0].value) < 1e-5


def test_padding_between_a_prompt_and_a_row_is_found() -> None:
    class HidesLeadingPaddingOnly(ToyDecoder):
        def bias(self, mask: Tensor) -> Tensor:
            return super().bias(mask.long().cumsum(1) > 0)

    finding = only_finding(examine("PE401", HidesLeadingPaddingOnly()))
    assert "(padding after a prompt)" in finding.message


def test_a_healthy_toy_passes() -> None:
    assert examine("PE401", ToyDecoder()).status == "passed"


def test_a_model_that_looks_both_ways_is_not_judged() -> None:
    result = examine("PE401", Toy())
    assert result.status == "not-applicable"
    assert "padded on the right (PE402)" in result.detail


def test_a_model_without_attention_is_not_judged() -> None:
    result = examine("PE401", tiny_model("rwkv"))
    assert (result.status, result.detail) == ("not-applicable", "no attention was seen in the forward")


def test_a_model_without_a_mask_is_not_judged() -> None:
    class Unmasked(ToyDecoder):
        def forward(self, tokens: Tensor) -> Tensor:  # type: ignore[override]
            return super().forward(tokens)

    result = examine("PE401", Unmasked())
    assert (result.status, result.detail) == (
        "not-applicable",
        "the forward takes no attention mask (batch, sequence)",
    )


def test_a_table_too_short_for_padding_is_not_judged() -> None:
    result = examine("PE401", (ToyDecoder(rows=5), (torch.zeros(2, 5, dtype=torch.int64),)))
    assert (result.status, result.detail) == ("not-applicable", "the model takes 5 positions, too few to pad")


class Convolved(ToyDecoder):
    """A causal convolution before the blocks: padded vectors are zero, as what lies before the first token is."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(32, 32, 3, groups=32)

    def forward(
        self, tokens: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
    ) -> Tensor:
        mask = torch.ones_like(tokens) if attention_mask is None else attention_mask
        x: Tensor = self.embed(tokens, self.ids(mask) if position_ids is None else position_ids) * mask[..., None]
        x = x + self.conv(nn.functional.pad(x.mT, (2, 0))).mT
        for layer in self.layers:
            x = layer(x, self.bias(mask))
        return x


def test_a_convolution_sees_a_gap_behind_a_prompt_as_it_must() -> None:
    result = examine("PE401", Convolved())
    assert result.status == "passed", result.findings
