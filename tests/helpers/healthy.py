"""Healthy models of many families, small, with random weights: every check must be silent on each of them."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from gnomon.encodings import (
    FIRE,
    KERPLE,
    ALiBi,
    CoPE,
    DeBERTa,
    Learned,
    NoPE,
    PositionEncoding,
    RandomizedPositions,
    Rotary,
    Sandwich,
    Shaw,
    Sinusoidal,
    T5Bias,
    TransformerXL,
    XPos,
)
from gnomon.encodings.frequencies import DynamicNTK, DynamicYaRN, Linear, LongRoPE, Plain, YaRN
from gnomon.models import Decoder, EmbeddingOptions, Encoder, ModelOptions

SIZES: dict[str, Any] = {
    "vocab_size": 60,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
}
SPECIAL: dict[str, Any] = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "vocab_size": 60}


def _transformers(name: str, config: str, **options: Any) -> Callable[[], nn.Module]:
    def build() -> nn.Module:
        import transformers

        torch.manual_seed(0)
        model: nn.Module = getattr(transformers, name)(getattr(transformers, config)(**options))
        return model.eval()

    return build


GPT2 = {**SPECIAL, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}

FOREIGN: dict[str, Callable[[], nn.Module]] = {
    "llama": _transformers("LlamaForCausalLM", "LlamaConfig", **SIZES, num_key_value_heads=2),
    "llama, linear scaling": _transformers(
        "LlamaForCausalLM",
        "LlamaConfig",
        **SIZES,
        rope_parameters={"rope_type": "linear", "factor": 2.0, "rope_theta": 5e4},
    ),
    "llama, llama 3 scaling": _transformers(
        "LlamaForCausalLM",
        "LlamaConfig",
        **SIZES,
        rope_parameters={
            "rope_type": "llama3",
            "rope_theta": 50.0,  # one pair is kept, one blended, and two are divided
            "factor": 2.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32,
        },
    ),
    "llama, yarn": _transformers(
        "LlamaForCausalLM",
        "LlamaConfig",
        **{**SIZES, "max_position_embeddings": 128},
        # One pair is kept, one blended, and two are divided.
        rope_parameters={"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 64},
    ),
    "llama, dynamic": _transformers(
        "LlamaForCausalLM",
        "LlamaConfig",
        **SIZES,
        rope_parameters={"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0},
    ),
    "phi3, longrope": _transformers(
        "Phi3ForCausalLM",
        "Phi3Config",
        **{**SIZES, "max_position_embeddings": 128},
        original_max_position_embeddings=32,
        rope_parameters={
            "rope_type": "longrope",
            "rope_theta": 1e4,
            "short_factor": [1.0, 1.0, 1.0, 1.0],
            "long_factor": [2.0, 3.0, 4.0, 8.0],
            "factor": 4.0,
        },
    ),
    "llama, proportional": _transformers(
        "LlamaForCausalLM",
        "LlamaConfig",
        **SIZES,
        rope_parameters={"rope_type": "proportional", "rope_theta": 1e4, "partial_rotary_factor": 0.5},
    ),
    "mistral": _transformers("MistralForCausalLM", "MistralConfig", **SIZES, num_key_value_heads=2),
    "qwen2": _transformers("Qwen2ForCausalLM", "Qwen2Config", **SIZES, num_key_value_heads=2),
    "gpt-neox, partial": _transformers("GPTNeoXForCausalLM", "GPTNeoXConfig", **SIZES, rotary_pct=0.5),
    "gpt-j": _transformers("GPTJForCausalLM", "GPTJConfig", **GPT2, rotary_dim=4),
    "gpt-2": _transformers("GPT2LMHeadModel", "GPT2Config", **GPT2),
    "opt": _transformers(
        "OPTForCausalLM",
        "OPTConfig",
        **SPECIAL,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        ffn_dim=48,
        max_position_embeddings=64,
        word_embed_proj_dim=32,
    ),
    "bloom": _transformers("BloomForCausalLM", "BloomConfig", **SPECIAL, hidden_size=32, n_layer=2, n_head=4),
    "bloom, six heads": _transformers(
        "BloomForCausalLM", "BloomConfig", **SPECIAL, hidden_size=48, n_layer=2, n_head=6
    ),
    "mpt": _transformers("MptForCausalLM", "MptConfig", **SPECIAL, d_model=32, n_layers=2, n_heads=4, max_seq_len=64),
    "falcon": _transformers("FalconForCausalLM", "FalconConfig", **SIZES),
    "falcon, alibi": _transformers("FalconForCausalLM", "FalconConfig", **SIZES, alibi=True),
    "cohere": _transformers("CohereForCausalLM", "CohereConfig", **SIZES),
    "phi": _transformers("PhiForCausalLM", "PhiConfig", **SIZES),
    "gemma3": _transformers(
        "Gemma3ForCausalLM", "Gemma3TextConfig", **SIZES, num_key_value_heads=2, head_dim=8, sliding_window=16
    ),
    "gemma3, both kinds": _transformers(
        "Gemma3ForCausalLM",
        "Gemma3TextConfig",
        **SIZES,
        num_key_value_heads=2,
        head_dim=8,
        sliding_window=16,
        layer_types=["sliding_attention", "full_attention"],
    ),
    "bert": _transformers("BertModel", "BertConfig", **SIZES),
    "roberta": _transformers("RobertaModel", "RobertaConfig", **SIZES),
}

DIM, HEADS, VOCABULARY, MAX_LENGTH = 32, 4, 60, 64

ENCODINGS: dict[str, Callable[[], PositionEncoding]] = {
    "rotary half": lambda: Rotary(DIM // HEADS),
    "rotary interleaved": lambda: Rotary(DIM // HEADS, layout="interleaved", frequencies=Plain(1e5)),
    "rotary partial": lambda: Rotary(DIM // HEADS, rotary_dim=4),
    "rotary linear": lambda: Rotary(DIM // HEADS, frequencies=Linear(factor=4.0)),
    "rotary yarn": lambda: Rotary(DIM // HEADS, frequencies=YaRN(4.0, 32, base=50.0)),
    "alibi": lambda: ALiBi(HEADS),
    "sinusoidal": lambda: Sinusoidal(DIM, scale="sqrt_dim"),
    "sinusoidal half": lambda: Sinusoidal(DIM, layout="half", base=1000.0),
    "learned": lambda: Learned(MAX_LENGTH, DIM),
    "learned, two reserved rows": lambda: Learned(MAX_LENGTH, DIM, padding_offset=2),
    "t5": lambda: T5Bias(HEADS),
    "sandwich": lambda: Sandwich(HEADS),
    "rotary dynamic": lambda: Rotary(DIM // HEADS, frequencies=DynamicNTK(4.0, 8)),
    "rotary longrope": lambda: Rotary(
        DIM // HEADS, frequencies=LongRoPE([1.0] * 4, [2.0, 3.0, 4.0, 8.0], 8, factor=4.0)
    ),
    "shaw": lambda: Shaw(HEADS, DIM // HEADS),
    "transformer_xl": lambda: TransformerXL(HEADS, DIM // HEADS, dim=DIM),
    "deberta": lambda: DeBERTa(HEADS, DIM // HEADS, dim=DIM, max_distance=32),
    "randomized rotary": lambda: RandomizedPositions(Rotary(DIM // HEADS), max_length=MAX_LENGTH, span=500),
}
CAUSAL_ENCODINGS: dict[str, Callable[[], PositionEncoding]] = {
    "t5 causal": lambda: T5Bias(HEADS, direction="causal"),
    "kerple log": lambda: KERPLE(HEADS),
    "kerple power": lambda: KERPLE(HEADS, form="power"),
    "fire": lambda: FIRE(HEADS),
    "xpos": lambda: XPos(DIM // HEADS),
    "cope": lambda: CoPE(HEADS, DIM // HEADS),
    "rotary dynamic yarn": lambda: Rotary(DIM // HEADS, frequencies=DynamicYaRN(8)),
}


def decoder(encoding: PositionEncoding, **options: Any) -> nn.Module:
    torch.manual_seed(0)
    sizes = ModelOptions(vocabulary=VOCABULARY, dim=DIM, num_layers=2, num_heads=HEADS, **options)
    return Decoder(sizes, encoding=encoding).eval()


def encoder(encoding: PositionEncoding, **options: Any) -> nn.Module:
    torch.manual_seed(0)
    sizes = ModelOptions(vocabulary=VOCABULARY, dim=DIM, num_layers=2, num_heads=HEADS, **options)
    return Encoder(sizes, encoding=encoding).eval()


OWN: dict[str, Callable[[], nn.Module]] = {
    **{
        f"decoder, {name}": (lambda make=make: decoder(make()))  # type: ignore[misc]
        for name, make in (ENCODINGS | CAUSAL_ENCODINGS).items()
    },
    **{f"encoder, {name}": (lambda make=make: encoder(make())) for name, make in ENCODINGS.items()},  # type: ignore[misc]
    "decoder, none": lambda: decoder(NoPE()),
    "encoder, narrow table": lambda: encoder(Learned(MAX_LENGTH, DIM), embedding=EmbeddingOptions(width=16)),
    "decoder, words times sqrt(d)": lambda: decoder(Sinusoidal(DIM), embedding=EmbeddingOptions(scale="sqrt_dim")),
    "decoder, grouped keys": lambda: decoder(Rotary(DIM // HEADS), num_key_heads=2),
}

MODELS: dict[str, Callable[[], nn.Module]] = {**FOREIGN, **OWN}
