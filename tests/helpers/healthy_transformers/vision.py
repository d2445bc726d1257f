"""Encoders of images: learned tables of patches, rotary over two axes, windows with biases, convolutions."""

from typing import Any

from tests.helpers.healthy_transformers.row import HEADS, WIDTH, Row, rows

PATCHES: dict[str, Any] = {
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS,
    "intermediate_size": 48,
    "image_size": 32,
    "patch_size": 8,
}
STAGES: dict[str, Any] = {
    "image_size": 32,
    "patch_size": 2,
    "embed_dim": 8,
    "depths": [2, 2],
    "num_heads": [2, 4],
    "window_size": 4,
}
MASKED: dict[str, Any] = {
    **PATCHES,
    "decoder_hidden_size": 16,
    "decoder_num_hidden_layers": 1,
    "decoder_num_attention_heads": 2,
    "decoder_intermediate_size": 24,
}
PYRAMID: dict[str, Any] = {
    "image_size": 64,
    "num_encoder_blocks": 2,
    "depths": [1, 1],
    "sr_ratios": [4, 2],
    "hidden_sizes": [16, 32],
    "num_attention_heads": [2, 4],
    "patch_sizes": [7, 3],
    "strides": [4, 2],
    "mlp_ratios": [2, 2],
}

VISION: dict[str, Row] = {
    **rows(
        "learned patches",
        PATCHES,
        "ViTModel",
        "ViTForImageClassification",
        "DeiTModel",
        "ViTMSNModel",
        "Dinov2Model",
        "Dinov2WithRegistersModel",
        "CLIPVisionModel",
        "SiglipVisionModel",
        "BlipVisionModel",
        "IJepaModel",
    ),
    **rows("learned patches", {**PATCHES, "image_size": [32, 48]}, "YolosModel"),
    **rows("sinusoidal patches over two axes", MASKED, "ViTMAEModel", "ViTMAEForPreTraining"),
    **rows("bias by offset and learned", {**PATCHES, "use_relative_position_bias": True}, "BeitModel"),
    **rows("bias by offset", {**PATCHES, "use_shared_relative_position_bias": True}, "Data2VecVisionModel"),
    **rows("rotary over two axes", PATCHES, "DINOv3ViTModel"),
    **rows("bias by offset in windows", STAGES, "SwinModel", "DonutSwinModel"),
    **rows("log-spaced bias in windows", STAGES, "Swinv2Model"),
    **rows("depthwise convolutions", PYRAMID, "SegformerModel"),
    **rows(
        "learned patches by stage",
        {
            **{k: v for k, v in PYRAMID.items() if k not in ("patch_sizes", "sr_ratios")},
            "num_encoder_blocks": 4,
            "depths": [1] * 4,
            "sequence_reduction_ratios": [8, 4, 2, 1],
            "hidden_sizes": [8, 16, 32, 32],
            "num_attention_heads": [1, 2, 4, 4],
            "patch_sizes": [4, 2, 2, 2],
            "strides": [4, 2, 2, 2],
            "mlp_ratios": [2] * 4,
        },
        "PvtModel",
    ),
    **rows(
        "bias by offset of patches",
        {
            "image_size": 64,
            "hidden_sizes": [16, 24, 32],
            "num_attention_heads": [2, 3, 4],
            "depths": [1, 1, 1],
            "key_dim": [4, 4, 4],
        },
        "LevitModel",
    ),
    **rows("learned patches, frames", {**PATCHES, "num_frames": 4, "tubelet_size": [2, 8, 8]}, "VivitModel"),
    **rows("sinusoidal patches, frames", {**PATCHES, "num_frames": 4, "tubelet_size": 2}, "VideoMAEModel"),
    **rows("learned patches, frames", {**PATCHES, "num_frames": 4}, "TimesformerModel"),
}
