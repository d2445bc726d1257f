"""Our encodings against the implementations in transformers, to 1e-5 in float32."""

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import BertConfig, GPT2Config, GPTJConfig, GPTNeoXConfig, LlamaConfig, RobertaConfig
from transformers.models.bert.modeling_bert import BertEmbeddings
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.gpt2.modeling_gpt2 import GPT2Model
from transformers.models.gpt_neox import modeling_gpt_neox as gpt_neox
from transformers.models.gptj import modeling_gptj as gptj
from transformers.models.llama import modeling_llama as llama
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.opt.modeling_opt import OPTLearnedPositionalEmbedding
from transformers.models.roberta.modeling_roberta import RobertaEmbeddings
from transformers.models.whisper.modeling_whisper import sinusoids

from gnomon.encodings import ALiBi, Learned, Rotary, Sinusoidal
from gnomon.encodings.frequencies import Frequencies, Linear, Llama3, Plain, Proportional, YaRN
from gnomon.positions import from_mask

POSITIONS = torch.tensor([[0, 1, 2, 3, 4], [11, 7, 30, 25, 3]])
MASK = torch.tensor([[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0], [0, 1, 1, 1, 0, 0]])


def random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


LENGTHS = {"factor": 4.0, "original_max_position_embeddings": 64}
BOUNDS = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}


@pytest.mark.parametrize(
    ("frequencies", "rope"),
    [
        (Plain(500.0), {"rope_type": "default"}),
        (Linear(4.0, 500.0), {"rope_type": "linear", "factor": 4.0}),
        (YaRN(4.0, 64, base=500.0), {"rope_type": "yarn", **LENGTHS}),
        (Llama3(4.0, 64, base=500.0), {"rope_type": "llama3", **LENGTHS, **BOUNDS}),
        (Proportional(0.25, base=500.0), {"rope_type": "proportional", "partial_rotary_factor": 0.25}),
    ],
    ids=lambda item: item["rope_type"] if isinstance(item, dict) else "",
)
def test_rotary_half_is_llama(frequencies: Frequencies, rope: dict[str, Any]) -> None:
    rope = {**rope, "rope_theta": 500.0}
    config = LlamaConfig(hidden_size=32, num_attention_heads=2, max_position_embeddings=256, rope_parameters=rope)
    q, k = random(2, 2, 5, 16), random(2, 1, 5, 16)
    cos, sin = llama.LlamaRotaryEmbedding(config)(q, POSITIONS)
    theirs_q, theirs_k = llama.apply_rotary_pos_emb(q, k, cos, sin)
    ours = Rotary(16, frequencies=frequencies)
    assert_equal(ours.rotate_query(q, POSITIONS), theirs_q)
    assert_equal(ours.rotate_key(k, POSITIONS), theirs_k)


def test_rotary_half_partial_is_gpt_neox() -> None:
    rope = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25}
    config = GPTNeoXConfig(hidden_size=48, num_attention_heads=2, rope_parameters=rope)
    q, k = random(2, 2, 5, 24), random(2, 2, 5, 24).flip(0)
    cos, sin = gpt_neox.GPTNeoXRotaryEmbedding(config)(q, POSITIONS)
    theirs_q, theirs_k = gpt_neox.apply_rotary_pos_emb(q, k, cos, sin)
    ours = Rotary(24, rotary_dim=6)
    assert_equal(ours.rotate_query(q, POSITIONS), theirs_q)
    assert_equal(ours.rotate_key(k, POSITIONS), theirs_k)


def test_rotary_interleaved_partial_is_gptj() -> None:
    config = GPTJConfig(n_embd=32, n_head=2, n_layer=1, rotary_dim=6, n_positions=64)
    table = gptj.create_sinusoidal_positions(config.n_positions, config.rotary_dim)
    sin, cos = table[POSITIONS].chunk(2, dim=-1)
    q = random(2, 2, 5, 16)
    by_token = q.transpose(1, 2)  # GPT-J rotates before it moves the heads
    turned = gptj.apply_rotary_pos_emb(by_token[..., :6], sin, cos)
    theirs = torch.cat((turned, by_token[..., 6:]), dim=-1).transpose(1, 2)
    assert_equal(Rotary(16, rotary_dim=6, layout="interleaved").rotate_query(q, POSITIONS), theirs)


def test_learned_is_bert() -> None:
    config = BertConfig(vocab_size=50, hidden_size=12, num_attention_heads=2, max_position_embeddings=40)
    theirs = BertEmbeddings(config).eval()
    ours = Learned(40, 12)
    ours.load_state_dict({"weight": theirs.position_embeddings.weight})
    ids = torch.arange(10).view(2, 5) + 3
    words = theirs.word_embeddings(ids) + theirs.token_type_embeddings.weight[0]
    assert_equal(theirs.LayerNorm(ours.embed(words, POSITIONS)), theirs(input_ids=ids, position_ids=POSITIONS))
    first = torch.arange(5)[None]
    assert_equal(theirs.LayerNorm(ours.embed(words, first)), theirs(input_ids=ids))


def test_learned_with_two_reserved_rows_is_roberta_under_padding() -> None:
    config = RobertaConfig(
        vocab_size=50, hidden_size=12, num_attention_heads=2, max_position_embeddings=42, pad_token_id=1
    )
    theirs = RobertaEmbeddings(config).eval()
    ours = Learned(40, 12, padding_offset=config.pad_token_id + 1)
    ours.load_state_dict({"weight": theirs.position_embeddings.weight})
    ids = torch.where(MASK == 1, torch.arange(18).view(3, 6) + 5, config.pad_token_id)
    words = theirs.word_embeddings(ids) + theirs.token_type_embeddings.weight[0]
    got, want = theirs.LayerNorm(ours.embed(words, from_mask(MASK))), theirs(input_ids=ids)
    assert_equal(got[MASK == 1], want[MASK == 1])


def test_learned_with_two_reserved_rows_is_opt_under_padding() -> None:
    theirs = OPTLearnedPositionalEmbedding(40, 12)
    ours = Learned(40, 12, padding_offset=2)
    ours.load_state_dict(theirs.state_dict())
    got = ours.embed(torch.zeros(3, 6, 12), from_mask(MASK))
    assert_equal(got[MASK == 1], theirs(MASK)[MASK == 1])


def test_learned_is_gpt2() -> None:
    config = GPT2Config(vocab_size=50, n_embd=12, n_head=2, n_layer=1, n_positions=40, bos_token_id=0, eos_token_id=0)
    theirs = GPT2Model(config).eval()
    ours = Learned(40, 12)
    ours.load_state_dict({"weight": theirs.wpe.weight})
    ids = torch.arange(10).view(2, 5) + 3
    first = theirs(input_ids=ids, position_ids=POSITIONS, output_hidden_states=True).hidden_states[0]
    assert_equal(ours.embed(theirs.wte(ids), POSITIONS), first)


@pytest.mark.parametrize("num_heads", [1, 4, 6, 12])
def test_alibi_is_bloom_under_padding(num_heads: int) -> None:
    positions = from_mask(MASK)
    theirs = build_alibi_tensor(MASK, num_heads, torch.float32).view(3, num_heads, 1, 6)
    causal = ALiBi(num_heads, form="causal").bias(positions, positions)
    assert_equal(causal, theirs.expand_as(causal))
    # The symmetric form is Bloom's less one constant for each row, where a causal mask leaves keys.
    symmetric = ALiBi(num_heads).bias(positions, positions)
    difference = theirs - symmetric
    past = (positions[:, None, :, None] >= positions[:, None, None, :]).expand_as(difference)
    first = difference[..., :1].expand_as(difference)  # position 0 stands in the first column of every row
    assert_equal(difference[past], first[past])


@pytest.mark.parametrize("num_heads", [4, 6, 12])
def test_alibi_is_mpt(num_heads: int) -> None:
    positions = torch.arange(7)[None]
    theirs = build_mpt_alibi_tensor(num_heads, 7)  # (H, 1, 7), minus the distance from the last token
    assert_equal(ALiBi(num_heads).bias(positions[:, -1:], positions)[0], theirs)


def test_sinusoidal_half_with_its_own_exponent_is_whisper() -> None:
    ours = Sinusoidal(12, layout="half", exponent="endpoint")
    assert_equal(ours.table(torch.arange(50)), sinusoids(50, 12))


@pytest.mark.parametrize("dim", [12, 9])
def test_sinusoidal_half_with_its_own_exponent_is_m2m100(dim: int) -> None:
    ours = Sinusoidal(dim, layout="half", exponent="endpoint")
    assert_equal(ours.table(torch.arange(50)), M2M100SinusoidalPositionalEmbedding.get_embedding(50, dim))


@pytest.mark.parametrize("dim", [12, 9])
def test_sinusoidal_half_is_marian(dim: int) -> None:
    theirs = MarianSinusoidalPositionalEmbedding(50, dim).create_weight()
    assert_equal(Sinusoidal(dim, layout="half").table(torch.arange(50)), theirs)
