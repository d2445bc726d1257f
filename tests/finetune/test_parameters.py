"""Position parameters are found once each, in gnomon's models and in those of transformers."""

import pytest
from torch import nn

from gnomon.encodings import Learned, Rotary, T5Bias
from gnomon.encodings.base import registry
from gnomon.finetune import low_rank, position_parameters
from gnomon.finetune.parameters import learned_parameters
from gnomon.models import Decoder, ModelOptions
from tests.helpers.tiny_transformers import tiny_model

SMALL = ModelOptions(vocabulary=50, dim=32, num_layers=2, num_heads=4)


@pytest.mark.parametrize(
    ("model_type", "names"),
    [
        ("bert", ["embeddings.position_embeddings.weight"]),
        ("gpt2", ["wpe.weight"]),
        (
            "t5",
            [
                "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
            ],
        ),
        ("opt", ["decoder.embed_positions.weight"]),
        ("llama", []),
    ],
)
def test_those_of_transformers_models_are_their_tables(model_type: str, names: list[str]) -> None:
    model = tiny_model(model_type)
    found = position_parameters(model)
    assert list(found) == names
    assert all(found[name] is parameter for name, parameter in model.named_parameters() if name in found)


@pytest.mark.parametrize("name", registry.names())
def test_those_of_an_encoding_are_all_it_has(name: str) -> None:
    encoding = registry.get(name).sample(num_heads=4, head_dim=8)
    assert list(position_parameters(encoding)) == [each for each, _ in encoding.named_parameters()]


def test_what_several_layers_share_is_named_once() -> None:
    model = Decoder(SMALL, encoding=T5Bias(4))
    assert list(position_parameters(model)) == ["stack.blocks.0.attention.encoding.weight"]
    each = Decoder(SMALL, encoding=[T5Bias(4), T5Bias(4)])
    assert len(position_parameters(each)) == 2
    assert position_parameters(Decoder(SMALL, encoding=Rotary(8))) == {}


def test_an_adapted_table_is_still_positions() -> None:
    found = position_parameters(low_rank(tiny_model("gpt2"), rank=2))
    assert [name.removeprefix("wpe.parametrizations.weight.") for name in found] == ["original", "0.rows", "0.columns"]


def test_words_norms_and_projections_are_none() -> None:
    model = nn.ModuleDict({"words": nn.Embedding(9, 4), "norm": nn.LayerNorm(4), "position_proj": nn.Linear(4, 4)})
    assert position_parameters(model) == {}


def test_a_table_that_the_config_calls_fixed_is_not_there_to_be_learned() -> None:
    model = tiny_model("distilbert", sinusoidal_pos_embds=True)
    [name] = position_parameters(model)
    assert learned_parameters(model) == {}
    assert list(learned_parameters(tiny_model("distilbert"))) == [name]
    assert list(learned_parameters(Learned(4, 8))) == ["weight"]
