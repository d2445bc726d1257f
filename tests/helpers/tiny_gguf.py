"""Writes small GGUF files with the gguf package: what the GGUF adapter is tested on."""

from pathlib import Path
from typing import Any

import numpy as np

WIDTH, HEADS, KV_HEADS, LAYERS, VOCABULARY, INNER = 64, 4, 2, 2, 32, 96


def write_gguf(path: Path, architecture: str, metadata: dict[str, Any], tensors: dict[str, Any]) -> Path:
    """Writes metadata (keys without the architecture) and tensors; a pair (values, type) is quantised first."""
    import gguf
    from gguf.quants import quantize

    writer = gguf.GGUFWriter(path, architecture)
    for key, value in metadata.items():
        name = key if key.startswith(("general.", "tokenizer.")) else f"{architecture}.{key}"
        if isinstance(value, list):
            writer.add_array(name, value)
        elif isinstance(value, str):
            writer.add_string(name, value)
        elif isinstance(value, float):
            writer.add_float32(name, value)
        else:
            writer.add_uint32(name, value)
    for name, values in tensors.items():
        if isinstance(values, tuple):
            writer.add_tensor(name, quantize(*values), raw_dtype=values[1])
        else:
            writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def llama_metadata() -> dict[str, Any]:
    """What a Llama of these sizes says of itself."""
    return {
        "general.name": "tiny",
        "context_length": 48,
        "embedding_length": WIDTH,
        "block_count": LAYERS,
        "feed_forward_length": INNER,
        "attention.head_count": HEADS,
        "attention.head_count_kv": KV_HEADS,
        "attention.layer_norm_rms_epsilon": 1e-5,
        "rope.dimension_count": WIDTH // HEADS,
        "rope.freq_base": 5e5,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": [f"t{i}" for i in range(VOCABULARY)],
        "tokenizer.ggml.bos_token_id": 1,
    }


def llama_tensors(seed: int = 0) -> dict[str, Any]:
    """Random weights under llama.cpp's names, q and k as its converter would have permuted them."""
    rng = np.random.default_rng(seed)

    def draw(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32)

    tensors = {"token_embd.weight": draw(VOCABULARY, WIDTH), "output_norm.weight": draw(WIDTH)}
    narrow = WIDTH // HEADS * KV_HEADS
    for layer in range(LAYERS):
        shapes: dict[str, tuple[int, ...]] = {"attn_q": (WIDTH, WIDTH), "attn_k": (narrow, WIDTH)}
        shapes |= {"attn_v": (narrow, WIDTH)}
        shapes |= {"attn_output": (WIDTH, WIDTH), "ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH)}
        shapes |= {"ffn_down": (WIDTH, INNER), "attn_norm": (WIDTH,), "ffn_norm": (WIDTH,)}
        tensors |= {f"blk.{layer}.{name}.weight": draw(*shape) for name, shape in shapes.items()}
    return tensors
