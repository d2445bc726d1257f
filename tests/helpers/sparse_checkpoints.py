"""Checkpoint folders of any size on a small disk: real headers and an index, and files whose data are holes."""

import json
import math
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.helpers.large_configs import LLAMA_3_70B

WIDTHS = {"F32": 4, "BF16": 2, "I64": 8}
Values = Mapping[str, "np.ndarray[Any, Any]"]


def sparse_llama(folder: Path, *, shards: int = 30, values: Values | None = None) -> Path:
    """Llama 3 70B in bfloat16, 141 GB that take no space on the disk; every number is 0 but the given `values`."""
    shapes: dict[str, tuple[str, tuple[int, ...]]] = dict(_llama_shapes(LLAMA_3_70B))
    shapes |= {name: ("F32", array.shape) for name, array in (values or {}).items()}
    return sparse_folder(folder, LLAMA_3_70B, shapes, shards=shards, values=values)


def sparse_folder(
    folder: Path,
    config: Mapping[str, Any],
    shapes: Mapping[str, tuple[str, tuple[int, ...]]],
    *,
    shards: int,
    values: Values | None = None,
) -> Path:
    """A folder with this config and tensors of these dtypes and shapes, dealt out over the shards."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    names = [f"model-{i + 1:05d}-of-{shards:05d}.safetensors" for i in range(shards)]
    parts = {name: dict(list(shapes.items())[i::shards]) for i, name in enumerate(names)}
    for name, part in parts.items():
        _write(folder / name, part, values or {})
    where = {tensor: name for name, part in parts.items() for tensor in part}
    index = {"metadata": {"total_size": sum(map(_size, shapes.values()))}, "weight_map": where}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def _write(path: Path, shapes: Mapping[str, tuple[str, tuple[int, ...]]], values: Values) -> None:
    header: dict[str, Any] = {}
    begin = 0
    for name, (dtype, shape) in shapes.items():
        end = begin + _size((dtype, shape))
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + begin)
        for name in shapes.keys() & values.keys():
            file.seek(8 + len(text) + header[name]["data_offsets"][0])
            file.write(np.ascontiguousarray(values[name], dtype=np.float32).tobytes())


def _size(tensor: tuple[str, tuple[int, ...]]) -> int:
    return WIDTHS[tensor[0]] * math.prod(tensor[1])


def _llama_shapes(config: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, tuple[int, ...]]]]:
    wide, inner, words = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    narrow = wide // config["num_attention_heads"] * config["num_key_value_heads"]
    yield from (("model.embed_tokens.weight", ("BF16", (words, wide))), ("lm_head.weight", ("BF16", (words, wide))))
    for layer in range(config["num_hidden_layers"]):
        shapes = {"self_attn.q_proj": (wide, wide), "self_attn.k_proj": (narrow, wide)}
        shapes |= {"self_attn.v_proj": (narrow, wide), "self_attn.o_proj": (wide, wide)}
        shapes |= {"mlp.gate_proj": (inner, wide), "mlp.up_proj": (inner, wide), "mlp.down_proj": (wide, inner)}
        yield from ((f"model.layers.{layer}.{name}.weight", ("BF16", shape)) for name, shape in shapes.items())
        for norm in ("input_layernorm", "post_attention_layernorm"):
            yield f"model.layers.{layer}.{norm}.weight", ("BF16", (wide,))
    yield "model.norm.weight", ("BF16", (wide,))
