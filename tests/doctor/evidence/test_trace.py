"""What the trace keeps of a forward: biases, lookups, angles, attentions, and where each happened."""

import math

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.trace import require_attention, trace, trace_forward
from gnomon.doctor.evidence.watcher import attends
from tests.helpers.healthy import FOREIGN, SIZES
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import DIM, HEADS, Toy, ToyDecoder, subject_of

SLOPES = torch.tensor([0.5, 0.25, 0.125, 0.0625])


class Written(ToyDecoder):
    """Attention written out, with a bias that is added before or after the logits are scaled."""

    def __init__(self, *, scaled_after: bool, in_place: bool = False) -> None:
        super().__init__(layers=1)
        self.scaled_after, self.in_place = scaled_after, in_place

    def forward(
        self, tokens: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
    ) -> Tensor:
        x = self.words(tokens)
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.layers[0].qkv(x).chunk(3, -1))  # type: ignore[operator,union-attr]
        places = torch.arange(tokens.shape[1])
        bias = -(SLOPES[:, None, None] * (places[:, None] - places).abs())[None]
        scores = q @ k.mT
        scale = 1 / math.sqrt(DIM / HEADS)
        if not self.scaled_after:
            scores = scores * scale
        if self.in_place:
            scores += bias
        else:
            scores = scores + bias
        if self.scaled_after:
            scores *= scale
        scores = scores + self.bias(torch.ones(tokens.shape))
        out: Tensor = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        return out


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("scaled_after", [False, True])
def test_a_bias_is_kept_as_it_counts_in_the_softmax(scaled_after: bool, in_place: bool) -> None:
    seen = trace(subject_of(Written(scaled_after=scaled_after, in_place=in_place)))
    bias, mask = (b.values for b in seen.biases)
    expected = -SLOPES / (math.sqrt(DIM / HEADS) if scaled_after else 1)
    torch.testing.assert_close(bias[0, :, 6, 5], expected)
    torch.testing.assert_close(bias[0, :, 6, 2], 4 * expected)
    assert float(mask[0, 0, 2, 3]) == -math.inf
    assert float(mask[0, 0, 3, 2]) == 0
    assert seen.attentions == 1


def test_a_bias_in_the_mask_of_a_fused_kernel_is_kept() -> None:
    class Biased(ToyDecoder):
        def bias(self, mask: Tensor) -> Tensor:
            places = torch.arange(mask.shape[1])
            return super().bias(mask) - SLOPES[:, None, None] * (places[:, None] - places).abs()

    seen = trace(subject_of(Biased()))
    assert [b.where for b in seen.biases] == ["layers.0", "layers.1"]
    torch.testing.assert_close(seen.biases[0].values[0, :, 6, 5], -SLOPES)


def test_bloom_s_bias_per_batch_and_head_is_taken_apart() -> None:
    seen = trace(subject_of(FOREIGN["bloom"]()))
    values = seen.biases[0].values
    assert values.shape[:2] == (2, 4)
    slopes = values[1, :, -1, 5] - values[1, :, -1, 4]
    torch.testing.assert_close(slopes, torch.tensor([2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8]))


def test_lookups_name_the_table_and_the_rows() -> None:
    seen = trace(subject_of(Toy()))
    rows = {lookup.table: lookup.rows for lookup in seen.lookups}
    assert rows["positions.weight"][0].tolist() == list(range(29))
    assert rows["words.weight"].shape == (2, 29)


def test_a_table_that_is_indexed_counts_as_a_lookup() -> None:
    class Indexed(Toy):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            x: Tensor = self.words(tokens) + self.positions.weight[ids]
            return x

    assert "positions.weight" in {lookup.table for lookup in trace(subject_of(Indexed())).lookups}


def test_angles_are_kept_with_their_dtype_and_place() -> None:
    seen = trace(subject_of(FOREIGN["llama"]()))
    assert {(t.where, t.operation, t.angles.dtype) for t in seen.trigs} == {
        ("model.rotary_emb", "cos", torch.float32),
        ("model.rotary_emb", "sin", torch.float32),
    }


def test_positions_can_be_passed_and_change_the_angles() -> None:
    probe = model(subject_of(FOREIGN["llama"]()))
    seen = trace_forward(probe, probe.draw(2, 5), positions=torch.arange(7, 12)[None].expand(2, -1))
    torch.testing.assert_close(seen.trigs[0].angles[0, :, 0], torch.arange(7.0, 12.0))


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_attentions_are_counted_on_each_path(implementation: str) -> None:
    import transformers

    torch.manual_seed(0)
    llama = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES, attn_implementation=implementation))
    assert trace(subject_of(llama.eval())).attentions == 2


def test_attentions_are_counted_in_torch_s_fused_layers() -> None:
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
    layers = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
    assert trace(subject_of((layers, (torch.randn(2, 12, 16),)))).attentions == 3


def test_a_safe_softmax_is_an_attention_and_an_exponential_is_not() -> None:
    assert attends("_safe_softmax")
    assert attends("_scaled_dot_product_flash_attention_for_cpu")
    assert not attends("exp")


def test_a_model_without_attention_is_told_so() -> None:
    require_attention(subject_of(Toy()))
    with pytest.raises(MissingEvidence, match="no attention was seen"):
        require_attention(subject_of(tiny_model("rwkv")))


def test_the_hooks_are_gone_afterwards_even_when_the_forward_fails() -> None:
    probe = model(subject_of(Toy()))
    with pytest.raises(MissingEvidence, match="IndexError"):
        trace_forward(probe, torch.full((2, 3), 10_000))
    assert all(not part._forward_hooks and not part._forward_pre_hooks for part in probe.module.modules())
