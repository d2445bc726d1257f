"""Tensors of positions are told by the names that published models give them, and their neighbours are not."""

import pytest

from gnomon.adapters.position_names import is_relative_name, is_table_name, of_encodings
from gnomon.encodings import Rotary, T5Bias
from gnomon.models import Decoder, ModelOptions

TABLES = (
    "transformer.wpe.weight",
    "embeddings.position_embeddings.weight",
    "model.decoder.embed_positions.weight",
    "vit.embeddings.position_embeddings",
    "pos_embed",
)
RELATIVE = (
    "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
    "layers.0.blocks.0.attn.relative_position_bias_table",
    "transformer.layer.0.rel_attn.r_w_bias",
    "encoder.layer.0.attention.self.distance_embedding.weight",
)
NEITHER = ("transformer.wte.weight", "embeddings.LayerNorm.weight", "layer.0.attn.pos_proj.weight", "lm_head.weight")


@pytest.mark.parametrize("name", [*TABLES, *RELATIVE, *NEITHER])
def test_names_are_sorted_into_tables_biases_and_others(name: str) -> None:
    assert (is_table_name(name), is_relative_name(name)) == (name in TABLES, name in RELATIVE)


def test_parameters_of_gnomons_encodings_need_no_name() -> None:
    small = ModelOptions(vocabulary=50, dim=32, num_layers=1, num_heads=4)
    assert of_encodings(Decoder(small, encoding=T5Bias(4))) == {"stack.blocks.0.attention.encoding.weight"}
    assert of_encodings(Decoder(small, encoding=Rotary(8))) == frozenset()
    assert of_encodings(T5Bias(4)) == {"weight"}
