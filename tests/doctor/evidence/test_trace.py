"""What the trace keeps of a forward: lookups, angles, attentions, and where each happened."""

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.trace import require_attention, trace, trace_forward
from gnomon.doctor.evidence.watcher import attends
from tests.helpers.healthy import FOREIGN, SIZES
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, subject_of


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
