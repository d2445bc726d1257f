"""Ten faults of position encodings as whole models, each beside its healthy twin. All run, train and keep every shape.

`gnomon doctor tests.mutation.models:wrong_base` examines one. The models are what people write: an encoder after the
well-known tutorials, and a transformers Llama whose rotary part was "optimised".
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

VOCABULARY, DIM, HEADS, LENGTH = 60, 32, 4, 64


def sinusoids(rows: int = LENGTH, dim: int = DIM) -> Tensor:
    """The published table (rows, dim), as tutorials compute it."""
    position = torch.arange(rows).unsqueeze(1)
    rates = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    table = torch.zeros(rows, dim)
    table[:, 0::2] = torch.sin(position * rates)
    table[:, 1::2] = torch.cos(position * rates)
    return table


class TutorialEncoder(nn.Module):
    """Words + table, two torch encoder layers. `add(words, table)` says how the two are joined."""

    def __init__(self, table: Tensor, add: Callable[[Tensor, Tensor], Tensor], *, learned: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(VOCABULARY, DIM)
        if learned:
            self.position_embedding = nn.Parameter(table)
        else:
            self.register_buffer("position_embedding", table, persistent=False)
        layer = nn.TransformerEncoderLayer(DIM, HEADS, 48, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.add = add

    def forward(self, ids: Tensor) -> Tensor:
        out: Tensor = self.layers(self.add(self.words(ids), self.position_embedding))
        return out


def once(words: Tensor, table: Tensor) -> Tensor:
    return words + table[: words.shape[1]]


def healthy_encoder() -> nn.Module:
    return TutorialEncoder(sinusoids(), once)


def healthy_learned_encoder() -> nn.Module:
    return TutorialEncoder(_drawn(), once, learned=True)


def sign_flipped() -> nn.Module:
    """-sin in place of sin."""
    table = sinusoids()
    table[:, 0::2] *= -1
    return TutorialEncoder(table, once)


def off_by_one() -> nn.Module:
    """The table starts at position 1."""
    return TutorialEncoder(sinusoids(LENGTH + 1)[1:].clone(), once)


def swapped_axes() -> nn.Module:
    """pos and i changed places in the formula; the table has the right shape."""
    return TutorialEncoder(sinusoids(DIM, LENGTH).T.contiguous(), once)


def all_zero() -> nn.Module:
    """A learned table initialised with zeros and frozen: it can never be anything else."""
    model = TutorialEncoder(torch.zeros(LENGTH, DIM), once, learned=True)
    model.position_embedding.requires_grad_(False)
    return model


def over_the_batch() -> nn.Module:
    """Sequence-first code on batch-first tensors."""

    def add(words: Tensor, table: Tensor) -> Tensor:
        return words + table[: words.shape[0]].unsqueeze(1)

    return TutorialEncoder(sinusoids(), add)


def added_twice() -> nn.Module:
    """Once in the embedding module, once more in the model."""
    return TutorialEncoder(_drawn(), lambda words, table: once(once(words, table), table), learned=True)


def masked_out() -> nn.Module:
    """Multiplied by a mask of the wrong sense: 0 for real tokens, 1 for padding."""

    def add(words: Tensor, table: Tensor) -> Tensor:
        padding = torch.zeros(words.shape[:2])
        return words + table[: words.shape[1]] * padding.unsqueeze(-1)

    return TutorialEncoder(sinusoids(), add)


def _drawn() -> Tensor:
    return torch.randn(LENGTH, DIM, generator=torch.Generator().manual_seed(1))


def _llama(**options: Any) -> Any:
    import transformers

    torch.manual_seed(0)
    sizes = {"hidden_size": DIM, "num_hidden_layers": 2, "num_attention_heads": HEADS, "num_key_value_heads": 2}
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        intermediate_size=48,
        max_position_embeddings=2048,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6},
        **{**sizes, **options},
    )
    return transformers.LlamaForCausalLM(config).eval()


def healthy_decoder() -> nn.Module:
    model: nn.Module = _llama()
    return model


def wrong_base() -> nn.Module:
    """The config says base 1e6, the frequencies follow 1e4: a base that was lost on the way."""
    model: Any = _llama()
    width = DIM // HEADS
    model.model.rotary_emb.inv_freq = 10000.0 ** (-torch.arange(0, width, 2) / width)
    return model  # type: ignore[no-any-return]


class RotaryFromHalfIds(nn.Module):
    """Llama's rotary embedding with ids in the dtype of the hidden states, as under a bfloat16 autocast."""

    def __init__(self, frequencies: Tensor) -> None:
        super().__init__()
        self.register_buffer("inv_freq", frequencies, persistent=False)

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        angles = position_ids.to(torch.bfloat16)[..., None] * self.inv_freq.to(torch.bfloat16)  # type: ignore[operator]
        wide = torch.cat((angles, angles), dim=-1)
        return wide.cos().to(x.dtype), wide.sin().to(x.dtype)


def half_precision_ids() -> nn.Module:
    """Position ids rounded to bfloat16: 769 of the first 4,096 stay distinct."""
    model: Any = _llama()
    model.model.rotary_emb = RotaryFromHalfIds(model.model.rotary_emb.inv_freq)
    return model  # type: ignore[no-any-return]


class NeighbouringPairs(nn.Module):
    """A Llama attention that turns lanes (2i, 2i + 1) where its weights expect (i, i + d/2)."""

    def __init__(self, attention: Any) -> None:
        super().__init__()
        self.inner = attention
        self.layer_idx = attention.layer_idx

    def forward(self, hidden_states: Tensor, position_embeddings: tuple[Tensor, Tensor], **more: Any) -> Any:
        from transformers.models.llama import modeling_llama

        kept = modeling_llama.apply_rotary_pos_emb
        modeling_llama.apply_rotary_pos_emb = _rotate_neighbours
        try:
            return self.inner(hidden_states, position_embeddings=position_embeddings, **more)
        finally:
            modeling_llama.apply_rotary_pos_emb = kept


def _rotate_neighbours(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
    half = cos.shape[-1] // 2
    c, s = (t[..., :half].repeat_interleave(2, dim=-1).unsqueeze(1) for t in (cos, sin))

    def turned(x: Tensor) -> Tensor:
        return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)

    return q * c + turned(q) * s, k * c + turned(k) * s


def pairs_swapped() -> nn.Module:
    """Interleaved pairs under weights made for halves."""
    model: Any = _llama()
    for layer in model.model.layers:
        layer.self_attn = NeighbouringPairs(layer.self_attn)
    return model  # type: ignore[no-any-return]


HEALTHY = (healthy_encoder, healthy_learned_encoder, healthy_decoder)

#: each mutation, the check that must name it, and words that its message and fix must hold
MUTATIONS: dict[Callable[[], nn.Module], tuple[str, str, str]] = {
    sign_flipped: ("PE203", "wrong sign", "minus sign"),
    wrong_base: ("PE307", "base 10000", "config's base 1000000"),
    off_by_one: ("PE203", "off by 1", "at 0"),
    swapped_axes: ("PE205", "axes swapped", "positions along the rows"),
    all_zero: ("PE206", "table is zero", "fill the table"),
    half_precision_ids: ("PE301", "bfloat16", "int64"),
    pairs_swapped: ("PE307", "interleaved", "rotate half pairs"),
    over_the_batch: ("PE306", "batch axis", "sequence axis"),
    added_twice: ("PE306", "added 2 times", "second call"),
    masked_out: ("PE306", "never arrive", "masked out"),
}
