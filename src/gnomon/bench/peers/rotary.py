"""Rotary functions of other libraries, each as a user calls it, with what a model makes once per forward pass made."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor

from gnomon.bench.peers.installed import UNIMPORTABLE, as_reason, one_file, require, x_transformers
from gnomon.bench.rotations import BASE, Pair, Rotation
from gnomon.errors import GnomonError
from gnomon.kernels.rotation import Layout

Rotate = Callable[[Tensor, Tensor], Pair]


@dataclass(frozen=True)
class RotaryPeer:
    """A library's rotation of queries and keys: its layout, whether its tensors are (B, S, H, D), and how to make it.

    `make` raises GnomonError where the library is not installed or cannot do the rotation.
    """

    name: str
    layout: Layout
    by_token: bool
    make: Callable[[Rotation], Rotate]
    slow_start: bool = False  #: takes many seconds to get ready


def llama_tables(width: int, positions: Tensor) -> Callable[[], Pair]:
    """A call of the module of transformers that makes cos and sin, (1, S, D) each, in each forward pass of a Llama."""
    require("transformers")
    with as_reason(UNIMPORTABLE):
        from transformers.models.llama.configuration_llama import LlamaConfig
        from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    rope = {"rope_type": "default", "rope_theta": BASE}
    length = int(positions[0, -1]) + 1
    sizes = {"hidden_size": width, "num_attention_heads": 1, "head_dim": width, "max_position_embeddings": length}
    module = LlamaRotaryEmbedding(LlamaConfig(**sizes, rope_parameters=rope))
    return partial(module, torch.zeros(1), positions)


def _transformers(rotation: Rotation) -> Rotate:
    cos, sin = (x.to(rotation.dtype) for x in llama_tables(rotation.shape.width, rotation.positions)())
    with as_reason(UNIMPORTABLE):
        from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    turn: Any = apply_rotary_pos_emb

    def rotate(q: Tensor, k: Tensor) -> Pair:
        turned: Pair = turn(q, k, cos, sin)
        return turned

    return rotate


def _compiled_transformers(rotation: Rotation) -> Rotate:
    if not any(shutil.which(name) for name in ("g++", "c++", "clang++")):
        raise GnomonError("no C++ compiler")
    torch.compiler.reset()  # or the compiler gives up after some shapes, without a word
    rotate: Rotate = torch.compile(_transformers(rotation), dynamic=False)
    return rotate


def _torchtune(rotation: Rotation) -> Rotate:
    shape = rotation.shape
    file = one_file("torchtune", "modules/position_embeddings.py")
    module = file.RotaryPositionalEmbeddings(shape.width, max_seq_len=shape.first + shape.length, base=BASE)
    given = {"input_pos": rotation.positions.expand(shape.batch, -1)} if shape.first else {}
    return lambda q, k: (module(q, **given), module(k, **given))


def _rotary_embedding_torch(rotation: Rotation) -> Rotate:
    require("rotary_embedding_torch")
    with as_reason(UNIMPORTABLE):
        from rotary_embedding_torch import RotaryEmbedding

    module = RotaryEmbedding(dim=rotation.shape.width, theta=BASE)
    module.rotate_queries_or_keys(rotation.inputs[0].float(), offset=rotation.shape.first)  # in half first, it is wrong
    first = rotation.shape.first

    def rotate(q: Tensor, k: Tensor) -> Pair:
        return module.rotate_queries_or_keys(q, offset=first), module.rotate_queries_or_keys(k, offset=first)

    return rotate


def _x_transformers(rotation: Rotation) -> Rotate:
    library = x_transformers()
    frequencies, scale = library.RotaryEmbedding(rotation.shape.width, base=BASE)(rotation.positions[0])
    turn = library.apply_rotary_pos_emb
    return lambda q, k: (turn(q, frequencies, scale), turn(k, frequencies, scale))


PEERS: Final = (
    RotaryPeer("transformers", "half", False, _transformers),
    RotaryPeer("transformers, compiled", "half", False, _compiled_transformers, slow_start=True),
    RotaryPeer("torchtune", "interleaved", True, _torchtune),
    RotaryPeer("rotary-embedding-torch", "interleaved", False, _rotary_embedding_torch),
    RotaryPeer("x-transformers", "interleaved", False, _x_transformers),
)
