"""Tiny random transformers models of the families that the adapters know, in sizes that differ from each other."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn

HEADS, HEAD_DIM, LENGTH, VOCABULARY = 4, 8, 37, 53
WIDTH = HEADS * HEAD_DIM
COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS,
    "intermediate_size": 24,
    "max_position_embeddings": LENGTH,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GPT2 = {
    "vocab_size": VOCABULARY,
    "n_embd": WIDTH,
    "n_layer": 2,
    "n_head": HEADS,
    "n_positions": LENGTH,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
TWO_STACKS = {
    "vocab_size": VOCABULARY,
    "d_model": WIDTH,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "decoder_start_token_id": 1,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
BART = {**TWO_STACKS, "max_position_embeddings": LENGTH}
IMAGE = {**COMMON, "image_size": [12, 20], "patch_size": 4}
STAGES = {
    "image_size": 32,
    "patch_size": 2,
    "embed_dim": 8,
    "depths": [2, 2],
    "num_heads": [2, 4],
    "window_size": 4,
}
VISION = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
T5 = {"vocab_size": VOCABULARY, "d_model": WIDTH, "d_kv": HEAD_DIM, "num_heads": HEADS, "num_layers": 2, "d_ff": 24}
LATENT = {**COMMON, "kv_lora_rank": 12, "q_lora_rank": 12, "qk_rope_head_dim": 6, "qk_nope_head_dim": HEAD_DIM} | {
    "v_head_dim": HEAD_DIM,
    "num_key_value_heads": HEADS,
    "moe_intermediate_size": 8,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 2,
    "topk_group": 1,
    "first_k_dense_replace": 2,
}
MPT = {"vocab_size": VOCABULARY, "d_model": WIDTH, "n_layers": 2, "n_heads": HEADS, "max_seq_len": LENGTH}
SEEN: dict[str, Any] = {
    "depth": 2,
    "hidden_size": 16,
    "num_heads": 2,
    "patch_size": 2,
    "spatial_merge_size": 2,
    "in_channels": 3,
}
SEEN |= {"embed_dim": 16, "intermediate_size": 12, "out_hidden_size": 16, "fullatt_block_indexes": [1]}
BY_COORDINATE: Mapping[str, Any] = {
    **COMMON,
    "num_key_value_heads": 2,
    "head_dim": HEAD_DIM,
    "rope_parameters": {"rope_type": "default", "rope_theta": 700.0, "mrope_section": [1, 2, 1]},
}
EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 8}
SIZES: Mapping[str, Mapping[str, Any]] = {
    "gpt2": GPT2,
    "gpt_bigcode": GPT2,
    "openai-gpt": GPT2,
    "imagegpt": GPT2,
    "gptj": {**GPT2, "rotary_dim": 6},
    "codegen": {**GPT2, "rotary_dim": 6},
    "gpt_neo": {**COMMON, "num_layers": 2, "num_heads": HEADS, "attention_types": [[["global", "local"], 1]]},
    "bloom": {"vocab_size": VOCABULARY, "hidden_size": 6 * HEAD_DIM, "n_layer": 2, "n_head": 6},
    "mpt": MPT,
    "gemma3": {"text_config": COMMON, "vision_config": {**VISION, "image_size": 28, "patch_size": 14}},
    "gpt_neox": {**COMMON, "rotary_pct": 0.5},
    "gpt_neox_japanese": {**COMMON, "rotary_pct": 0.5, "intermediate_multiple_size": 2},
    "albert": {**COMMON, "embedding_size": 12},
    "electra": {**COMMON, "embedding_size": 12},
    "mobilebert": {**COMMON, "embedding_size": 12, "intra_bottleneck_size": WIDTH, "true_hidden_size": WIDTH},
    "distilbert": {"vocab_size": VOCABULARY, "dim": WIDTH, "n_layers": 2, "n_heads": HEADS, "hidden_dim": 24}
    | {"max_position_embeddings": LENGTH},
    "roberta": {**COMMON, "pad_token_id": 1},
    "opt": {**COMMON, "ffn_dim": 24, "word_embed_proj_dim": 12},
    "nemotron": {**COMMON, "num_key_value_heads": 2},
    "minimax_m2": {
        **COMMON,
        "num_key_value_heads": 2,
        "head_dim": HEAD_DIM,
        "rotary_dim": 4,
        "num_local_experts": 2,
        "num_experts_per_tok": 1,
    },
    "nemotron_h": {
        **COMMON,
        "num_key_value_heads": 2,
        "head_dim": HEAD_DIM,
        "layers_block_type": ["mamba", "attention"],
        "mamba_num_heads": HEADS,
        "mamba_head_dim": HEAD_DIM,
        "ssm_state_size": 4,
        "n_groups": 2,
    },
    "ministral": {**COMMON, "rope_theta": 1e6, "head_dim": HEAD_DIM},
    "whisper": {**TWO_STACKS, "num_mel_bins": 5, "max_source_positions": 23, "max_target_positions": 19},
    "bart": BART,
    "mbart": BART,
    "plbart": BART,
    "t5": T5,
    "mt5": T5,
    "umt5": T5,
    "longt5": T5,
    "switch_transformers": T5,
    "gemma4_text": {
        **COMMON,
        "num_key_value_heads": 2,
        "head_dim": HEAD_DIM,
        "global_head_dim": 2 * HEAD_DIM,
        "vocab_size_per_layer_input": VOCABULARY,
        "hidden_size_per_layer_input": 4,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "llama4_text": {
        **COMMON,
        "num_hidden_layers": 4,
        "num_key_value_heads": 2,
        "head_dim": HEAD_DIM,
        "intermediate_size_mlp": 24,
        "num_local_experts": 2,
    },
    "vit": IMAGE,
    "deit": IMAGE,
    "vit_msn": IMAGE,
    "dinov2": IMAGE,
    "dinov3_vit": IMAGE,
    "beit": {**IMAGE, "use_relative_position_bias": True, "use_absolute_position_embeddings": True},
    "swin": STAGES,
    "swinv2": {**STAGES, "window_size": 8, "pretrained_window_sizes": [0, 6]},
    "qwen2_vl": {"text_config": BY_COORDINATE, "vision_config": SEEN},
    "qwen2_5_vl": {"text_config": BY_COORDINATE, "vision_config": SEEN},
    "qwen2_vl_text": BY_COORDINATE,
    "qwen2_5_vl_text": BY_COORDINATE,
    "qwen3_vl_text": {
        **BY_COORDINATE,
        "rope_parameters": {**BY_COORDINATE["rope_parameters"], "mrope_section": [2, 1, 1]},
    },
    "qwen3_vl_moe_text": {
        **BY_COORDINATE,
        **EXPERTS,
        "rope_parameters": {"rope_theta": 7.0, "mrope_section": [2, 1, 1]},
    },
    "qwen2_vl_vision": SEEN,
    "qwen2_5_vl_vision": SEEN,
    "deepseek_v2": LATENT,
    "deepseek_v3": LATENT,
    "m2m_100": {**TWO_STACKS, "vocab_size": VOCABULARY, "max_position_embeddings": LENGTH, "pad_token_id": 1},
    "wav2vec2-conformer": {
        **COMMON,
        "conv_dim": [8, 8],
        "conv_stride": [5, 2],
        "conv_kernel": [10, 3],
        "num_feat_extract_layers": 2,
        "num_conv_pos_embeddings": 8,
        "num_conv_pos_embedding_groups": 2,
        "conv_depthwise_kernel_size": 3,
        "max_source_positions": LENGTH,
    },
    "xlnet": {"vocab_size": VOCABULARY, "d_model": WIDTH, "n_layer": 2, "n_head": HEADS, "d_inner": 24},
}


def tiny_fields(model_type: str) -> dict[str, Any]:
    """The keys that a small config of this family is built from, as a config.json would hold them."""
    return {"model_type": model_type, **SIZES.get(model_type, COMMON)}


def tiny_model(model_type: str, **more: Any) -> nn.Module:
    """A random model of a small config of this family in eval mode; `more` wins."""
    from transformers import AutoConfig, AutoModel
    from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLVisionConfig
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VisionTransformerPretrainedModel

    config = AutoConfig.for_model(**(tiny_fields(model_type) | more))
    if isinstance(config, Qwen2VLVisionConfig):  # AutoModel does not know it
        image_model: nn.Module = Qwen2VisionTransformerPretrainedModel._from_config(config).eval()
        return image_model
    model: nn.Module = AutoModel.from_config(config).eval()
    return model


def save_tiny(folder: Path, model_type: str = "bert", **more: Any) -> Path:
    """`tiny_model` as save_pretrained writes it."""
    model: Any = tiny_model(model_type, **more)
    model.save_pretrained(folder)
    return folder


def edit_config(folder: Path, **fields: Any) -> None:
    """Changes keys of the folder's config.json."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))
