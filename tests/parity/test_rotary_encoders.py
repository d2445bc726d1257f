"""Encoders of transformers, and one for speech, with their rotation replaced by gnomon's give the same hidden states.

RoFormer and ESM always count 0, 1, 2, ... whatever is padded; relative encodings do not mind.
"""

from typing import Any
from unittest import mock

import pytest
import torch
from torch import Tensor, nn

from gnomon.encodings import Rotary, from_hf_config
from tests.helpers.padded import PLACES, TOKENS, assert_ours, drawn, hidden
from tests.helpers.tiny_transformers import tiny_fields
from tests.helpers.transformers_rotation import by, turned
from tests.helpers.weights import normal

KINDS = ["full_attention", "sliding_attention"]
FAMILIES: dict[str, dict[str, Any]] = {
    "modernbert": {"model_type": "modernbert"},
    "modernbert, other kinds": {
        "model_type": "modernbert",
        "layer_types": KINDS[::-1],
        "rope_parameters": {KINDS[0]: {"rope_theta": 700.0}, KINDS[1]: {"rope_theta": 30.0}},
    },
    "modernbert-decoder": {"model_type": "modernbert-decoder"},
    "nomic_bert": {"model_type": "nomic_bert"},
    "eurobert": {"model_type": "eurobert"},
    "esm": {"model_type": "esm", "position_embedding_type": "rotary", "token_dropout": False},
}


@pytest.mark.parametrize("options", FAMILIES.values(), ids=FAMILIES.keys())
def test_gnomons_rotation_gives_the_same_hidden_states(options: dict[str, Any]) -> None:
    model = drawn({"layer_norm_eps": 1e-5, **options})
    encodings = [from_hf_config(model.config, layer) for layer in range(model.config.num_hidden_layers)]
    given = {} if options["model_type"] == "esm" else {"position_ids": PLACES}

    def by_gnomon(places: Tensor) -> Tensor:
        with turned(model, by(encodings, places)):
            return hidden(model, **given)

    assert_ours(hidden(model, **given), by_gnomon(PLACES), by_gnomon(2 * PLACES))


def test_the_kinds_of_modernberts_layers_differ() -> None:
    config = {**tiny_fields("modernbert"), "num_hidden_layers": 5, "global_rope_theta": 160.0, "local_rope_theta": 10.0}
    bases = [layer_base(config, layer) for layer in range(5)]
    assert bases == [160.0, 10.0, 10.0, 160.0, 10.0]


def layer_base(config: dict[str, Any], layer: int) -> float:
    encoding = from_hf_config(config, layer)
    assert isinstance(encoding, Rotary)
    return float(encoding.options["frequencies"]["base"])


@pytest.mark.parametrize("values", [False, True])
def test_roformer_turns_neighbouring_pairs(values: bool) -> None:
    """`rotary_value` turns the values as well, which is no matter of queries and keys: gnomon's turn does it too."""
    from transformers.models.roformer.modeling_roformer import RoFormerSelfAttention

    model = drawn({"model_type": "roformer", "embedding_size": 32, "rotary_value": values})
    encoding = from_hf_config(model.config)

    def by_gnomon(places: Tensor) -> Tensor:
        def turn(_: Tensor, *states: Tensor) -> tuple[Tensor, ...]:
            return tuple(encoding.rotate_query(state, places) for state in states)

        with mock.patch.object(RoFormerSelfAttention, "apply_rotary_position_embeddings", staticmethod(turn)):
            return hidden(model)

    counted = torch.arange(TOKENS)[None]
    assert_ours(hidden(model), by_gnomon(counted), by_gnomon(2 * counted))


def test_wav2vec2_conformer_turns_its_hidden_states_before_they_are_projected() -> None:
    """So each head's slice of the hidden state turns as a query would, and queries and keys share the result."""
    from transformers.models.wav2vec2_conformer import modeling_wav2vec2_conformer as modeling

    model = drawn({"model_type": "wav2vec2-conformer", "position_embeddings_type": "rotary"})
    encoding, sound = from_hf_config(model.config), normal(2, 200)
    heads = model.config.num_attention_heads

    @torch.no_grad()
    def by_gnomon(stretch: int) -> Tensor:
        def turn(_: nn.Module, x: Tensor, __: Tensor) -> Tensor:
            places = torch.arange(x.shape[1])[None] * stretch
            by_head = x.unflatten(-1, (heads, -1)).transpose(1, 2)
            return encoding.rotate_query(by_head, places).transpose(1, 2).flatten(2)

        with mock.patch.object(modeling.Wav2Vec2ConformerSelfAttention, "_apply_rotary_embedding", turn):
            result: Tensor = model(sound).last_hidden_state
        return result

    with torch.no_grad():
        expected = model(sound).last_hidden_state
    assert expected.shape[1] > 9
    torch.testing.assert_close(by_gnomon(1), expected, atol=1e-5, rtol=1e-5)
    assert (by_gnomon(2) - expected).abs().max() > 1e-2
