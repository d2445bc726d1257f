"""GGUF metadata as a config in Hugging Face's words, and the claims that follow from it.

Key names: ggml's docs/gguf.md. llama.cpp rotates some architectures in neighbouring pairs (`llama_model_rope_type`) and
permutes the rows of q and k to match; transformers undoes that permutation when it loads the file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gnomon.adapters.claims import Claim
from gnomon.adapters.families import claims_of
from gnomon.adapters.families.config_reader import Found
from gnomon.adapters.gguf.cursor import Array
from gnomon.adapters.plausible import WIDEST_HEAD

MODEL_TYPES = {
    "llama": "llama",
    "qwen2": "qwen2",
    "qwen2moe": "qwen2_moe",
    "qwen3": "qwen3",
    "qwen3moe": "qwen3_moe",
    "gemma": "gemma",
    "gemma2": "gemma2",
    "gemma3": "gemma3_text",
    "phi2": "phi",
    "phi3": "phi3",
    "stablelm": "stablelm",
    "starcoder2": "starcoder2",
    "gptneox": "gpt_neox",
    "gptj": "gptj",
    "falcon": "falcon",
    "gpt2": "gpt2",
    "bloom": "bloom",
    "mpt": "mpt",
    "bert": "bert",
    "opt": "opt",
    "nomic-bert": "nomic_bert",
    "t5": "t5",
    "olmo": "olmo",
    "olmo2": "olmo2",
    "command-r": "cohere",
    "cohere2": "cohere2",
    "granite": "granite",
    "smollm3": "smollm3",
    "gpt-oss": "gpt_oss",
    "nemotron": "nemotron",
}
PERMUTED = ("llama", "olmo", "granite", "smollm3")
KEYS = {
    "context_length": "max_position_embeddings",
    "embedding_length": "hidden_size",
    "block_count": "num_hidden_layers",
    "feed_forward_length": "intermediate_size",
    "vocab_size": "vocab_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.sliding_window": "sliding_window",
    "attention.relative_buckets_count": "relative_attention_num_buckets",
    "rope.freq_base": "rope_theta",
    "rope.freq_base_swa": "rope_local_base_freq",
    "rope.dimension_count": "rotary_dim",
}
SCALING = {
    "rope.scaling.type": "rope_type",
    "rope.scaling.factor": "factor",
    "rope.scaling.original_context_length": "original_max_position_embeddings",
    "rope.scaling.attn_factor": "attn_factor",
    "rope.scaling.yarn_beta_fast": "beta_fast",
    "rope.scaling.yarn_beta_slow": "beta_slow",
    "rope.scaling.yarn_ext_factor": "extrapolation_factor",
    "rope.scaling.yarn_attn_factor": "attn_factor",
}
ROTATED = "rope.dimension_count"
STEEPEST = "attention.max_alibi_bias"
NOTE = (
    "rows of q and k lie permuted in the file, for llama.cpp's rotation of neighbouring pairs; "
    "transformers permutes them back to halves when it loads the file"
)


@dataclass(frozen=True)
class GGUFConfig:
    """A config in Hugging Face's words and, for each of its keys, the GGUF key that it came from."""

    architecture: str
    config: Mapping[str, Any]
    sources: Mapping[str, str]
    rotated: int | None

    def claims(self) -> tuple[Claim, ...]:
        """Claims as for the same config in a folder, with GGUF's names for tables and keys."""
        return tuple(self._claim(claim) for claim in claims_of(self.config))

    def _claim(self, claim: Claim) -> Claim:
        options, keys = dict(claim.options), {name: self._source(key) for name, key in claim.keys.items()}
        tables = ("^position_embd\\.weight$",) if claim.kind == "learned" else ()
        if claim.kind != "rotary":
            return replace(claim, keys=keys, table_names=tables)
        if self.rotated is not None and "head_dim" in options:
            options["rotary_dim"], keys["rotary_dim"] = self.rotated, f"{self.architecture}.{ROTATED}"
        if self.architecture in PERMUTED:
            options["file_layout"], keys["file_layout"] = "interleaved", "default"
            keys["note"] = "; ".join(filter(None, (keys.get("note"), NOTE)))
        return replace(claim, options=options, keys=keys, table_names=(r"^rope_freqs\.weight$",))

    def _source(self, key: str) -> str:
        return "".join(self.sources.get(part, part) for part in re.split(r"( //? )", key))


def gguf_config(metadata: Mapping[str, Any]) -> GGUFConfig:
    """Reads what the metadata says about the model; keys of another type than expected are left out.

    >>> gguf_config({"general.architecture": "gpt2", "gpt2.context_length": 1024}).config
    {'model_type': 'gpt2', 'max_position_embeddings': 1024}
    """
    name = metadata.get("general.architecture")
    architecture = name if isinstance(name, str) else ""
    config: dict[str, Any] = {"model_type": MODEL_TYPES.get(architecture, architecture)}
    sources = {"model_type": "general.architecture"}
    for suffix, key in KEYS.items():
        _copy(metadata, f"{architecture}.{suffix}", config, key, sources, key)
    scaling: dict[str, Any] = {}
    for suffix, key in SCALING.items():
        _copy(metadata, f"{architecture}.{suffix}", scaling, key, sources, f"rope_scaling.{key}")
    if scaling.get("factor") not in (None, 0, 1):
        scaling.setdefault("rope_type", "linear")  # llama.cpp's default
    if scaling.get("rope_type") not in (None, "none"):
        config["rope_scaling"] = scaling
    _steepest(metadata, architecture, config, sources)
    tokens = metadata.get("tokenizer.ggml.tokens")
    if isinstance(tokens, Array):
        config.setdefault("vocab_size", tokens.length)
    rotated = metadata.get(f"{architecture}.{ROTATED}")
    return GGUFConfig(architecture, config, sources, Found(rotated, ROTATED).up_to(WIDEST_HEAD))


def gguf_tokenizer(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The short values of the tokenizer that the file carries, without the prefix `tokenizer.`."""
    prefix = "tokenizer."
    return {
        key.removeprefix(prefix): value
        for key, value in metadata.items()
        if key.startswith(prefix) and not isinstance(value, Array)
    }


def _copy(
    metadata: Mapping[str, Any], given: str, into: dict[str, Any], key: str, sources: dict[str, str], path: str
) -> None:
    value = metadata.get(given)
    if isinstance(value, Array):  # one number a layer: a single one when all agree
        value = value.values[0] if len(set(value.values)) == 1 else None
    if value is not None:
        into[key], sources[path] = value, given


def _steepest(metadata: Mapping[str, Any], architecture: str, config: dict[str, Any], sources: dict[str, str]) -> None:
    """MPT says by the largest ALiBi exponent whether it has ALiBi; llama.cpp keeps 0 for a model without it."""
    key = f"{architecture}.{STEEPEST}"
    value = metadata.get(key)
    if architecture == "mpt" and isinstance(value, (int, float)):
        config["attn_config"] = {"alibi": value > 0, "alibi_bias_max": value}
        sources["attn_config.alibi"] = sources["attn_config.alibi_bias_max"] = key
