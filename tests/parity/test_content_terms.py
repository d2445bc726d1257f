"""DeBERTa and Wav2Vec2-Conformer of transformers, where content meets position through gnomon's terms.

XLNet, whose terms they are too, is compared in tests/models/test_xlnet_parity.py.
"""

from typing import Any
from unittest import mock

import pytest
import torch
from torch import Tensor

from gnomon.encodings import DeBERTa, TransformerXL, from_hf_config
from tests.helpers.padded import TOKENS, assert_ours, drawn, hidden
from tests.helpers.tiny_transformers import tiny_fields
from tests.helpers.weights import normal, redraw

#: relative encodings may start anywhere
PLACES = torch.arange(TOKENS)[None] + 40
DISENTANGLED = {"relative_attention": True, "position_biased_input": False}
VERSIONS: dict[str, dict[str, Any]] = {
    "deberta": {"model_type": "deberta", "max_relative_positions": 6, "pos_att_type": ["c2p", "p2c"]},
    "deberta, content to position": {"model_type": "deberta", "pos_att_type": ["c2p"]},
    "deberta-v2": {"model_type": "deberta-v2", "max_relative_positions": 6, "pos_att_type": ["c2p", "p2c"]},
    "deberta-v2, buckets and norm": {
        "model_type": "deberta-v2",
        "pos_att_type": ["p2c", "c2p"],
        "position_buckets": 4,
        "max_relative_positions": 9,
        "norm_rel_ebd": "layer_norm",
        "layer_norm_eps": 1e-3,
    },
    "deberta-v2, shared projections": {
        "model_type": "deberta-v2",
        "pos_att_type": "p2c|c2p",
        "position_buckets": 6,
        "share_att_key": True,
    },
    "deberta-v2, position to content": {"model_type": "deberta-v2", "pos_att_type": ["p2c"], "position_buckets": 4},
}


def disentangled(model: Any, layer: Any) -> DeBERTa:
    """The encoding that the config describes, with the weights of one layer."""
    encoding = from_hf_config(model.config)
    assert isinstance(encoding, DeBERTa)
    encoding.weight = model.encoder.rel_embeddings.weight
    if encoding.norm is not None:
        encoding.norm = model.encoder.LayerNorm
    for name, theirs in (
        ("position_key", ("pos_proj", "pos_key_proj", "key_proj")),
        ("position_query", ("pos_q_proj", "pos_query_proj", "query_proj")),
    ):
        projection = next((getattr(layer, path) for path in theirs if hasattr(layer, path)), None)
        if getattr(encoding, name) is not None and projection is not None:
            _copy(getattr(encoding, name), projection)
    return encoding


@torch.no_grad()
def _copy(ours: torch.nn.Linear, theirs: torch.nn.Linear) -> None:
    ours.weight.copy_(theirs.weight)
    ours.bias.copy_(torch.zeros_like(ours.bias) if theirs.bias is None else theirs.bias)


@pytest.mark.parametrize("options", VERSIONS.values(), ids=VERSIONS.keys())
def test_deberta(options: dict[str, Any]) -> None:
    """Version 1 scales its queries before, and hands on the scaled ones; version 2 has batch and heads in one."""
    from transformers.models.deberta.modeling_deberta import DisentangledSelfAttention as First
    from transformers.models.deberta_v2.modeling_deberta_v2 import DisentangledSelfAttention as Second

    model = drawn({"layer_norm_eps": 1e-5, **options, **DISENTANGLED})
    redraw(model.encoder.rel_embeddings, std=1.0)
    first = options["model_type"] == "deberta"
    heads = model.config.num_attention_heads

    def by_gnomon(stretch: int) -> Tensor:
        def ours(layer: Any, q: Tensor, k: Tensor, *_: Any) -> Tensor:
            encoding, rows = disentangled(model, layer), PLACES * stretch
            if first:
                return encoding.content_bias(q / encoding.scale, k, rows, rows)
            q, k = (x.unflatten(0, (-1, heads)) for x in (q, k))
            return encoding.content_bias(q, k, rows, rows).flatten(0, 1)

        name = "disentangled_att_bias" if first else "disentangled_attention_bias"
        with mock.patch.object(First if first else Second, name, ours):
            return hidden(model).detach()

    assert_ours(hidden(model), by_gnomon(1), by_gnomon(-1))


def test_wav2vec2_conformer_has_the_terms_of_transformer_xl() -> None:
    """Its sines and cosines alternate, ours stand in halves: the columns of the projection are put in that order."""
    from transformers.models.wav2vec2_conformer import modeling_wav2vec2_conformer as modeling

    model, sound = drawn({"model_type": "wav2vec2-conformer"}), normal(2, 200)
    assert model.config.position_embeddings_type == "relative"

    @torch.no_grad()
    def by_gnomon(stretch: int) -> Tensor:
        def ours(layer: Any, q: Tensor, k: Tensor, _: Tensor) -> tuple[Tensor, Tensor]:
            encoding = from_hf_config(model.config)
            assert isinstance(encoding, TransformerXL)
            weight = layer.linear_pos.weight
            encoding.projection.weight.copy_(torch.cat((weight[:, 0::2], weight[:, 1::2]), dim=1))
            encoding.content_bias_vector.copy_(layer.pos_bias_u)
            encoding.position_bias_vector.copy_(layer.pos_bias_v)
            rows = stretch * torch.arange(q.shape[2])[None] + 40
            return q, encoding.content_bias(q, k, rows, rows)

        with mock.patch.object(modeling, "_apply_relative_position_encoding", ours):
            result: Tensor = model(sound).last_hidden_state
        return result

    with torch.no_grad():
        expected = model(sound).last_hidden_state
    assert_ours(expected, by_gnomon(1), by_gnomon(-1), torch.ones(expected.shape[:2]).bool())


def test_xlnets_config_gives_the_terms_that_its_layers_have() -> None:
    encoding = from_hf_config({**tiny_fields("xlnet"), "clamp_len": 5, "attn_type": "bi"}, layer=1)
    assert isinstance(encoding, TransformerXL)
    assert encoding.options | {"base": 10000.0} == {
        "num_heads": 4,
        "head_dim": 8,
        "dim": 32,
        "clamp_length": 5,
        "base": 10000.0,
    }
