"""PE402: padding on the right changes the tokens before it."""

import pytest
import torch
from torch import Tensor, nn

from gnomon.encodings import ALiBi
from tests.helpers.healthy import FOREIGN, encoder
from tests.helpers.healthy_transformers import ROWS
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, ToyDecoder, examine, only_finding


class DropsTheMask(Toy):
    def bias(self, mask: Tensor) -> Tensor:
        return super().bias(torch.ones_like(mask))


class CentresPositions(Toy):
    """Derives positions from the padded length."""

    def ids(self, mask: Tensor) -> Tensor:
        return super().ids(torch.ones_like(mask)) + mask.shape[1] // 2


class TorchMask(Toy):
    """As torch's own modules have it: True for padding."""

    def forward(self, tokens: Tensor, padding_mask: Tensor | None = None) -> Tensor:  # type: ignore[override]
        return super().forward(tokens, None if padding_mask is None else ~padding_mask)


@pytest.mark.parametrize("kind", [DropsTheMask, CentresPositions])
def test_padding_that_leaks_is_found(kind: type[Toy]) -> None:
    result = examine("PE402", kind())
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.where == "the forward"
    assert finding.measured["pads"] == 4
    assert finding.measured["effect"] > 0.05
    assert finding.message.startswith("right padding changes the outputs of real tokens by ")
    assert "mask padded keys" in finding.fix


@pytest.mark.parametrize("name", ["bert", "roberta", "llama", "gpt-2", "bloom"])
def test_healthy_families_pass(name: str) -> None:
    result = examine("PE402", FOREIGN[name]())
    assert result.status == "passed", (result.detail, result.findings)


def test_a_mask_that_is_true_for_padding_is_understood() -> None:
    assert examine("PE402", TorchMask()).status == "passed"


def test_a_leak_past_a_mask_that_is_true_for_padding_is_found() -> None:
    class Leaking(TorchMask):
        def bias(self, mask: Tensor) -> Tensor:
            return super().bias(torch.ones_like(mask))

    assert examine("PE402", Leaking()).status == "failed"


def test_a_two_sided_alibi_passes() -> None:
    assert examine("PE402", encoder(ALiBi(4))).status == "passed"


def test_torch_s_encoder_passes_with_its_own_mask_argument() -> None:
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    result = examine("PE402", (model, (torch.randn(2, 12, 16),)))
    assert result.status == "passed", (result.detail, result.findings)


def test_torch_s_transformer_wants_two_masks_and_is_not_judged() -> None:
    model = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True)
    result = examine("PE402", (model, (torch.randn(2, 5, 8), torch.randn(2, 5, 8))))
    assert result.status == "not-applicable"


def test_a_pooled_output_is_not_judged() -> None:
    class Pooled(Toy):
        def forward(
            self, tokens: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
        ) -> Tensor:
            return super().forward(tokens, attention_mask, position_ids).mean(1)

    result = examine("PE402", Pooled())
    assert (result.status, result.detail) == ("not-applicable", "the output (2, 32) has no vector for each of 9 places")


def test_an_encoder_decoder_is_judged_by_the_tokens_of_its_decoder() -> None:
    assert examine("PE402", tiny_model("longt5")).status == "passed"


@pytest.mark.parametrize("model", ["ConvBertModel", "FunnelModel"])
def test_what_leaks_past_attention_that_hides_padding_is_a_warning(model: str) -> None:
    result = examine("PE402", ROWS[model].build())
    assert result.severity == "warning"
    assert "though every attention hides it" in only_finding(result).message


def test_a_causal_model_without_a_mask_is_not_judged() -> None:
    class Unmasked(ToyDecoder):
        def forward(self, tokens: Tensor) -> Tensor:  # type: ignore[override]
            return super().forward(tokens)

    assert examine("PE402", Unmasked()).detail == "the forward takes no attention mask (batch, sequence)"
