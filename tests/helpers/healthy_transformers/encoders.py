"""Encoders of text: learned tables, sinusoids, rotary, disentangled scores, buckets, Fourier mixing."""

from typing import Any

from tests.helpers.healthy_transformers.row import HEADS, LENGTH, SIZES, SPECIAL, WIDTH, Row, rows

DISTIL: dict[str, Any] = {
    **SPECIAL,
    "dim": WIDTH,
    "n_layers": 2,
    "n_heads": HEADS,
    "hidden_dim": 48,
    "max_position_embeddings": LENGTH,
}
DISENTANGLED: dict[str, Any] = {
    **SIZES,
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
    "type_vocab_size": 0,
}
BOXES: dict[str, Any] = {**SIZES, "max_2d_position_embeddings": 128, "coordinate_size": 6, "shape_size": 4}

ENCODERS: dict[str, Row] = {
    **rows(
        "learned",
        SIZES,
        "BertModel",
        "BertForMaskedLM",
        "BertForSequenceClassification",
        "ErnieModel",
        "ConvBertModel",
        "MegatronBertModel",
        "NystromformerModel",
        "LxmertModel",
        "YosoModel",
        "SplinterModel",
        "RemBertModel",
        "BertGenerationEncoder",
    ),
    **rows("learned", {**SIZES, "embedding_size": WIDTH}, "SqueezeBertModel"),
    **rows("learned, narrow", {**SIZES, "embedding_size": 16}, "AlbertModel", "ElectraModel"),
    **rows(
        "learned, ids after the padding id",
        SIZES,
        "RobertaModel",
        "RobertaForMaskedLM",
        "XLMRobertaModel",
        "CamembertModel",
        "RobertaPreLayerNormModel",
        "Data2VecTextModel",
    ),
    **rows("learned, ids after the padding id", {**SIZES, "default_language": "en_XX"}, "XmodModel"),
    **rows("learned", DISTIL, "DistilBertModel"),
    **rows("learned", {**SIZES, "attention_type": "original_full"}, "BigBirdModel"),
    **rows("learned, ids after the padding id", {**SIZES, "attention_window": 8}, "LongformerModel"),
    **rows("learned, by characters", {**SIZES, "num_hash_buckets": 64, "local_attention_window": 16}, "CanineModel"),
    **rows("learned, no attention", SIZES, "FNetModel"),
    **rows("learned", {**SIZES, "n_layers": 2, "n_heads": HEADS, "emb_dim": WIDTH}, "XLMModel", "FlaubertModel"),
    **rows("learned, ids after the padding id", {**SIZES, "entity_vocab_size": 10, "entity_emb_size": 16}, "LukeModel"),
    **rows("learned, and boxes", {**SIZES, "max_2d_position_embeddings": 128}, "LayoutLMModel"),
    **rows("learned, and boxes", {**BOXES, "hidden_size": 48}, "LiltModel"),
    **rows("disentangled", DISENTANGLED, "DebertaModel", "DebertaV2Model"),
    **rows("learned and buckets", SIZES, "MPNetModel"),
    **rows("rotary, interleaved, from a sinusoid table", {**SIZES, "embedding_size": WIDTH}, "RoFormerModel"),
    **rows("rotary", {**SIZES, "position_embedding_type": "rotary", "mask_token_id": 3}, "EsmModel"),
    **rows(
        "rotary, base by layer",
        {
            **SIZES,
            "cls_token_id": 0,
            "sep_token_id": 2,
            "local_attention": 16,
            "global_attn_every_n_layers": 2,
        },
        "ModernBertModel",
    ),
    **rows("rotary", SIZES, "NomicBertModel", "EuroBertModel", "JinaEmbeddingsV3Model"),
    **rows(
        "transformer_xl",
        {"vocab_size": 60, "d_model": WIDTH, "n_layer": 2, "n_head": HEADS, "d_inner": 48},
        "XLNetModel",
        "XLNetLMHeadModel",
    ),
    **rows(
        "transformer_xl, pooled",
        {**SPECIAL, "block_sizes": [1, 1], "d_model": WIDTH, "n_head": HEADS, "d_head": 8, "d_inner": 48},
        "FunnelModel",
        "FunnelBaseModel",
    ),
}
