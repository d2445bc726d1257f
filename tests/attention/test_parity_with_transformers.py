"""The same numbers as transformers, under its own masks: same input to one attention layer, same output."""

from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon import positions
from gnomon.attention import Attention, AttentionMask, LayerCache
from gnomon.encodings import ALiBi, Learned, NoPE, Rotary, T5Bias
from tests.helpers.transformers_attention import (
    DIM,
    HEADS,
    VOCABULARY,
    build,
    by_head,
    capture,
    separate,
    stacked,
)
from tests.helpers.weights import redraw, token_ids

HEAD_DIM, LENGTH = DIM // HEADS, 9
IDS = token_ids(2, LENGTH, vocabulary=VOCABULARY)
LEFT = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1, 1], [1] * LENGTH])
RIGHT = torch.tensor([[1, 1, 1, 1, 1, 1, 1, 0, 0], [1] * LENGTH])
PADDED = pytest.mark.parametrize("mask", [LEFT, RIGHT], ids=["left", "right"])


@torch.no_grad()
def assert_same(layer: Attention, x: Tensor, expected: Tensor, mask: Tensor) -> None:
    """Equal at every real token, in one pass and (causal) in chunks of 1 and 3 through a cache."""
    place, real = positions.from_mask(mask), mask.bool()
    outputs = [layer(x, place, AttentionMask.of(mask))]
    for chunk in (1, 3) if layer.causal else ():
        cache, steps = LayerCache(), [slice(start, start + chunk) for start in range(0, LENGTH, chunk)]
        parts = [layer(x[:, step], place[:, step], AttentionMask.of(mask[:, step]), cache) for step in steps]
        outputs.append(torch.cat(parts, dim=1))
    assert expected.abs().max() > 0.5
    for out in outputs:
        torch.testing.assert_close(out[real], expected[real], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def run(model: Any, mask: Tensor, **more: Tensor) -> None:
    model(input_ids=IDS, attention_mask=mask, **more)


@PADDED
def test_llama_half_rotation_with_grouped_keys(mask: Tensor) -> None:
    model = build(
        "Llama",
        hidden_size=DIM,
        num_attention_heads=HEADS,
        num_key_value_heads=2,
        intermediate_size=48,
        num_hidden_layers=2,
        rope_parameters={"rope_type": "default", "rope_theta": 500.0},
    )
    theirs = model.layers[1].self_attn
    kept = capture(theirs)
    run(model, mask, position_ids=positions.from_mask(mask))
    weights = separate(theirs.q_proj, theirs.k_proj, theirs.v_proj, theirs.o_proj)
    encoding = Rotary(HEAD_DIM, layout="half", frequencies={"kind": "plain", "base": 500.0})
    assert_same(weights.into(encoding, causal=True), kept.given[0], kept.came, mask)


@PADDED
def test_gptj_interleaved_partial_rotation(mask: Tensor) -> None:
    model = build("GPTJ", n_embd=DIM, n_head=HEADS, n_layer=2, rotary_dim=4, n_positions=64)
    theirs = model.h[1].attn
    kept = capture(theirs)
    run(model, mask, position_ids=positions.from_mask(mask))
    weights = separate(theirs.q_proj, theirs.k_proj, theirs.v_proj, theirs.out_proj)
    encoding = Rotary(HEAD_DIM, rotary_dim=4, layout="interleaved")
    assert_same(weights.into(encoding, causal=True), kept.given[0], kept.came, mask)


@PADDED
def test_gpt_neox_half_partial_rotation(mask: Tensor) -> None:
    model = build(
        "GPTNeoX",
        hidden_size=DIM,
        num_attention_heads=HEADS,
        num_hidden_layers=2,
        intermediate_size=48,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
    )
    theirs = model.layers[1].attention
    kept = capture(theirs)
    run(model, mask, position_ids=positions.from_mask(mask))
    encoding = Rotary(HEAD_DIM, rotary_dim=4, layout="half")
    assert_same(by_head(theirs).into(encoding, causal=True), kept.given[0], kept.came, mask)


@PADDED
@pytest.mark.parametrize("form", ["symmetric", "causal"])
def test_bloom_alibi(mask: Tensor, form: Any) -> None:
    model = build("Bloom", hidden_size=DIM, n_head=HEADS, n_layer=2)
    theirs = model.h[1].self_attention
    kept = capture(theirs)
    run(model, mask)
    x, residual = kept.given[:2]
    assert_same(by_head(theirs).into(ALiBi(HEADS, form=form), causal=True), x, kept.came - residual, mask)


@PADDED
def test_gpt2_learned_table_and_attention(mask: Tensor) -> None:
    model = build("GPT2", n_embd=DIM, n_head=HEADS, n_layer=2, n_positions=16)
    embedded, theirs = capture(model.drop), model.h[1].attn
    kept, place = capture(theirs), positions.from_mask(mask)
    run(model, mask, position_ids=place)
    encoding = Learned(16, DIM)
    encoding.load_state_dict({"weight": model.wpe.weight})
    torch.testing.assert_close(encoding.embed(model.wte(IDS), place), embedded.came, atol=1e-6, rtol=1e-6)
    assert_same(stacked(theirs).into(encoding, causal=True), kept.given[0], kept.came, mask)


@PADDED
def test_bert_learned_table_and_bidirectional_attention(mask: Tensor) -> None:
    model = build(
        "Bert",
        hidden_size=DIM,
        num_attention_heads=HEADS,
        num_hidden_layers=2,
        intermediate_size=48,
        max_position_embeddings=16,
    )
    tables, theirs = model.embeddings, model.encoder.layer[1].attention
    embedded, kept, mixed = capture(tables.LayerNorm), capture(theirs.self), capture(theirs.output.dense)
    place = positions.from_mask(mask)
    run(model, mask, position_ids=place)
    encoding = Learned(16, DIM)
    encoding.load_state_dict({"weight": tables.position_embeddings.weight})
    words = tables.word_embeddings(IDS) + tables.token_type_embeddings.weight[0]
    torch.testing.assert_close(encoding.embed(words, place), embedded.given[0], atol=1e-6, rtol=1e-6)
    weights = separate(theirs.self.query, theirs.self.key, theirs.self.value, theirs.output.dense)
    assert_same(weights.into(encoding, causal=False), kept.given[0], mixed.came, mask)


@PADDED
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_t5_buckets_without_scaled_logits(mask: Tensor, stack: str) -> None:
    """T5 does not divide logits by sqrt(head_dim), so its query weights are multiplied by that. Layer 1 borrows the
    bias of layer 0."""
    model = build(
        "T5",
        d_model=DIM,
        d_kv=HEAD_DIM,
        num_heads=HEADS,
        num_layers=2,
        num_decoder_layers=2,
        d_ff=48,
        relative_attention_num_buckets=8,
        relative_attention_max_distance=7,
    )
    first, theirs = (block.layer[0].SelfAttention for block in getattr(model, stack).block)
    redraw(first.relative_attention_bias, std=2.0)
    kept = capture(theirs)
    run(model, mask, decoder_input_ids=IDS, decoder_attention_mask=mask)
    weights = separate(theirs.q, theirs.k, theirs.v, theirs.o)
    encoding = T5Bias(HEADS, num_buckets=8, max_distance=7, direction="causal" if stack == "decoder" else "both")
    encoding.load_state_dict(first.relative_attention_bias.state_dict())
    layer = weights.into(encoding, causal=stack == "decoder")
    with torch.no_grad():
        layer.query.weight *= HEAD_DIM**0.5
    assert_same(layer, kept.given[0], kept.came, mask)


def test_another_layout_or_no_positions_gives_other_numbers() -> None:
    """The parity tests above can fail: a wrong layout, base or no rotation moves the output far beyond their bound."""
    model = build("Llama", hidden_size=DIM, num_attention_heads=HEADS, num_hidden_layers=1, intermediate_size=48)
    theirs = model.layers[0].self_attn
    kept = capture(theirs)
    run(model, LEFT, position_ids=positions.from_mask(LEFT))
    weights = separate(theirs.q_proj, theirs.k_proj, theirs.v_proj, theirs.o_proj)
    wrong = [
        Rotary(HEAD_DIM, layout="interleaved"),
        Rotary(HEAD_DIM, frequencies={"kind": "plain", "base": 9000.0}),
        NoPE(),
    ]
    for encoding in wrong:
        with pytest.raises(AssertionError, match="Mismatched elements"):
            assert_same(weights.into(encoding, causal=True), kept.given[0], kept.came, LEFT)
