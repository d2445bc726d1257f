"""Frequencies that depend on the length, against transformers: equal in one pass, and right where theirs drift."""

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import DynamicCache, LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from gnomon.encodings import Rotary
from gnomon.encodings.frequencies import DynamicNTK, Frequencies, LongRoPE
from tests.helpers.transformers_attention import DIM, HEADS, VOCABULARY, Projections, build, capture, separate
from tests.helpers.weights import token_ids

TRAINED, HEAD_DIM = 16, DIM // HEADS
SIZES: dict[str, Any] = {
    "hidden_size": DIM,
    "num_attention_heads": HEADS,
    "num_key_value_heads": 2,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "pad_token_id": 0,
}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 50.0, "factor": 4.0}
LISTS: dict[str, Any] = {"short_factor": [1.0, 1.1, 1.5], "long_factor": [1.2, 3.0, 9.0]}
LONGROPE = {"rope_type": "longrope", "rope_theta": 50.0, "original_max_position_embeddings": TRAINED, **LISTS}


def llama(rope: dict[str, Any], longest: int) -> tuple[Any, Projections]:
    model = build("Llama", **SIZES, max_position_embeddings=longest, rope_parameters=dict(rope))
    part = model.layers[1].self_attn
    return model, separate(part.q_proj, part.k_proj, part.v_proj, part.o_proj)


def phi3() -> tuple[Any, Projections]:
    """Its projections are one matrix, and three quarters of each head turn."""
    rope, lengths = {**LONGROPE, "partial_rotary_factor": 0.75}, {"original_max_position_embeddings": TRAINED}
    model = build("Phi3", **SIZES, **lengths, eos_token_id=0, max_position_embeddings=8 * TRAINED, rope_parameters=rope)
    part = model.layers[1].self_attn
    q, k, v = part.qkv_proj.weight.split([DIM, DIM // 2, DIM // 2])
    return model, Projections((q, None), (k, None), (v, None), (part.o_proj.weight, None))


@pytest.mark.parametrize("length", [TRAINED - 1, TRAINED, TRAINED + 1, 27])
@pytest.mark.parametrize("family", ["llama dynamic", "phi3 longrope"])
@torch.no_grad()
def test_one_pass_of_transformers_is_the_rotation_at_one_length(family: str, length: int) -> None:
    """It turns all tokens of a call by the length of the call; ours does with `at_length`."""
    rule: Frequencies
    if family == "llama dynamic":
        (model, weights), rule, turned = llama(DYNAMIC, TRAINED), DynamicNTK(4.0, TRAINED, 50.0), HEAD_DIM
    else:
        (model, weights), turned = phi3(), 6
        rule = LongRoPE(**LISTS, original_max_length=TRAINED, base=50.0, factor=8.0)
    kept = capture(model.layers[1].self_attn)
    model(input_ids=token_ids(2, length, vocabulary=VOCABULARY), use_cache=False)
    rotary, place = Rotary(HEAD_DIM, rotary_dim=turned, frequencies=rule), torch.arange(length)[None]
    ours = weights.into(rotary.at_length(length), causal=True)(kept.given[0], place)
    torch.testing.assert_close(ours, kept.came, atol=1e-5, rtol=1e-5)
    by_query = weights.into(rotary, causal=True)(kept.given[0], place)
    torch.testing.assert_close(by_query[:, -1], kept.came[:, -1], atol=1e-5, rtol=1e-5)
    assert ((by_query - kept.came).abs().max() > 1e-3) == (length > TRAINED)


@pytest.mark.parametrize(
    "rule", [DynamicNTK(4.0, TRAINED, 50.0), LongRoPE(**LISTS, original_max_length=16, factor=8.0)]
)
def test_a_rotation_does_not_remember_other_calls(rule: Frequencies) -> None:
    rotary, place = Rotary(6, frequencies=rule), torch.arange(20)[None]
    first = rotary.cos_sin(place)
    rotary.cos_sin(torch.arange(300)[None])
    rotary.cos_sin(torch.arange(3)[None])
    for before, after in zip(first, rotary.cos_sin(place), strict=True):
        assert torch.equal(before, after)


def test_the_dynamic_rotation_of_transformers_remembers_other_calls() -> None:
    """In 5.24 all positions turn as in the longest call so far, until a call is shorter than the trained length.

    A call of exactly the trained length does not bring the trained frequencies back.
    """
    config = LlamaConfig(hidden_size=128, num_attention_heads=1, max_position_embeddings=128)
    config.rope_parameters = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}
    theirs, x, place = LlamaRotaryEmbedding(config), torch.zeros(1), torch.arange(200)[None]
    rotary = Rotary(128, frequencies=DynamicNTK(4.0, 128))

    def cosines() -> Tensor:
        cos: Tensor = theirs(x, place)[0][..., :64]
        return cos

    fresh = cosines()
    torch.testing.assert_close(fresh, rotary.at_length(200).cos_sin(place)[0], atol=5e-5, rtol=0)
    theirs(x, torch.arange(300)[None])
    assert (cosines() - fresh).abs().max() > 1.9
    as_longest, as_trained = (rotary.at_length(length).cos_sin(place)[0] for length in (300, 128))
    for length, expected in ((300, as_longest), (128, as_longest), (127, as_trained)):
        got = theirs(x, torch.arange(length)[None])[0][:, :100, :64]
        torch.testing.assert_close(got, expected[:, :100], atol=5e-5, rtol=0)


@pytest.mark.parametrize(
    "rope", [DYNAMIC, {**LONGROPE, **{key: [*LISTS[key], 9.0] for key in LISTS}}], ids=["ntk", "longrope"]
)
@torch.no_grad()
def test_a_cache_of_transformers_is_not_one_pass_through_the_switch(rope: dict[str, Any]) -> None:
    """Its cached keys stay as they were turned when they were stored; ours are tested in tests/attention."""
    model, once = (llama(rope, TRAINED if rope is DYNAMIC else 8 * TRAINED)[0] for _ in range(2))
    ids, cache = token_ids(1, TRAINED + 1, vocabulary=VOCABULARY), DynamicCache(config=model.config)
    steps = [model(input_ids=ids[:, [i]], cache=cache).last_hidden_state[0, 0] for i in range(TRAINED + 1)]
    for length, same in ((TRAINED, True), (TRAINED + 1, False)):
        whole = once(input_ids=ids[:, :length], use_cache=False).last_hidden_state[0, -1]
        assert ((steps[length - 1] - whole).abs().max() < 1e-4) == same
