"""Encoder-decoders of text: buckets, learned and fixed tables, local windows."""

from typing import Any

from tests.helpers.healthy_transformers.row import HEAD_DIM, HEADS, LENGTH, SPECIAL, VOCABULARY, WIDTH, Row, rows

BART: dict[str, Any] = {
    **SPECIAL,
    "d_model": WIDTH,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "decoder_start_token_id": 0,
    "max_position_embeddings": LENGTH,
}
T5: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": WIDTH,
    "d_kv": HEAD_DIM,
    "num_heads": HEADS,
    "num_layers": 2,
    "d_ff": 48,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
}
PROPHET: dict[str, Any] = {
    **SPECIAL,
    "hidden_size": WIDTH,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
    "num_encoder_attention_heads": HEADS,
    "num_decoder_attention_heads": HEADS,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": LENGTH,
    "num_buckets": 8,
    "relative_max_distance": 32,
    "decoder_start_token_id": 0,
}

TWO_STACKS: dict[str, Row] = {
    **rows(
        "t5 buckets",
        T5,
        "T5Model",
        "T5ForConditionalGeneration",
        "T5EncoderModel",
        "MT5Model",
        "UMT5Model",
        "Pop2PianoForConditionalGeneration",
    ),
    # An expert that is full drops tokens by their order; here none is.
    **rows("t5 buckets, experts", {**T5, "expert_capacity": 1024}, "SwitchTransformersModel"),
    **rows("t5 buckets, local windows", {**T5, "local_radius": 4}, "LongT5Model"),
    **rows(
        "learned, two reserved rows", BART, "BartModel", "BartForConditionalGeneration", "MBartModel", "PLBartModel"
    ),
    **rows("learned", BART, "BlenderbotModel", "BlenderbotSmallModel", "MvpModel"),
    **rows("sinusoidal, halves", {**BART, "scale_embedding": True}, "MarianModel", "MarianMTModel", "PegasusModel"),
    **rows("sinusoidal, two reserved rows", BART, "M2M100Model", "NllbMoeModel"),
    **rows(
        "learned, local windows",
        {**BART, "attention_window": 8, "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64},
        "LEDModel",
    ),
    **rows("learned, block sparse", {**BART, "attention_type": "original_full"}, "BigBirdPegasusModel"),
    **rows("sinusoidal, halves, blocks", {**BART, "block_size": 8, "num_global_tokens": 2}, "PegasusXModel"),
    **rows("learned and buckets, two streams", PROPHET, "ProphetNetModel"),
}
