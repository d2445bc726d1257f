"""What config.json files on the Hugging Face hub say of positions, by model: facts of published files, shortened."""

from typing import Any

LLAMA3_BLOCK = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}


def _sizes(width: int, heads: int, layers: int, length: int, vocabulary: int) -> dict[str, Any]:
    return {
        "hidden_size": width,
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "max_position_embeddings": length,
        "vocab_size": vocabulary,
        "architectures": ["AsPublished"],
    }


def _gemma3_kinds(layers: int) -> list[str]:
    return ["full_attention" if (layer + 1) % 6 == 0 else "sliding_attention" for layer in range(layers)]


PUBLISHED: dict[str, dict[str, Any]] = {
    "llama 2 7b": {"model_type": "llama", **_sizes(4096, 32, 32, 4096, 32_000), "rope_scaling": None},
    "llama 3 8b": {"model_type": "llama", **_sizes(4096, 32, 32, 8192, 128_256), "rope_theta": 500_000.0},
    "llama 3.1 8b": {
        "model_type": "llama",
        **_sizes(4096, 32, 32, 131_072, 128_256),
        "rope_theta": 500_000.0,
        "rope_scaling": {"factor": 8.0, **LLAMA3_BLOCK, "rope_type": "llama3"},
    },
    "llama 3.2 1b": {
        "model_type": "llama",
        **_sizes(2048, 32, 16, 131_072, 128_256),
        "head_dim": 64,
        "rope_theta": 500_000.0,
        "rope_scaling": {"factor": 32.0, **LLAMA3_BLOCK, "rope_type": "llama3"},
    },
    "code llama 7b": {"model_type": "llama", **_sizes(4096, 32, 32, 16_384, 32_016), "rope_theta": 1_000_000},
    "deepseek coder 6.7b": {
        "model_type": "llama",
        **_sizes(4096, 32, 32, 16_384, 32_256),
        "rope_theta": 100_000,
        "rope_scaling": {"factor": 4.0, "type": "linear"},
    },
    "mistral 7b 0.1": {
        "model_type": "mistral",
        **_sizes(4096, 32, 32, 32_768, 32_000),
        "rope_theta": 10_000.0,
        "sliding_window": 4096,
    },
    "mistral 7b 0.3": {
        "model_type": "mistral",
        **_sizes(4096, 32, 32, 32_768, 32_768),
        "rope_theta": 1e6,
        "sliding_window": None,
    },
    "qwen 2.5 7b": {
        "model_type": "qwen2",
        **_sizes(3584, 28, 28, 32_768, 152_064),
        "rope_theta": 1e6,
        "sliding_window": 131_072,
        "use_sliding_window": False,
        "max_window_layers": 28,
    },
    "qwen 3 8b": {
        "model_type": "qwen3",
        **_sizes(4096, 32, 36, 40_960, 151_936),
        "head_dim": 128,
        "rope_theta": 1_000_000,
        "rope_scaling": None,
        "sliding_window": None,
    },
    "phi 3 mini 128k": {
        "model_type": "phi3",
        **_sizes(3072, 32, 32, 131_072, 32_064),
        "original_max_position_embeddings": 4096,
        "rope_theta": 10_000.0,
        "sliding_window": 262_144,
        "rope_scaling": {"type": "longrope", "short_factor": [1.05] * 48, "long_factor": [1.2] * 48},
    },
    "phi 4 mini": {
        "model_type": "phi3",
        **_sizes(3072, 24, 32, 131_072, 200_064),
        "original_max_position_embeddings": 4096,
        "partial_rotary_factor": 0.75,
        "rope_theta": 10_000.0,
        "rope_scaling": {"type": "longrope", "short_factor": [1.0] * 48, "long_factor": [1.1] * 48},
    },
    "gemma 2 9b": {
        "model_type": "gemma2",
        **_sizes(3584, 16, 42, 8192, 256_000),
        "head_dim": 256,
        "rope_theta": 10_000.0,
        "sliding_window": 4096,
    },
    "gemma 3 4b": {
        "model_type": "gemma3",
        "architectures": ["Gemma3ForConditionalGeneration"],
        "text_config": {
            "hidden_size": 2560,
            "intermediate_size": 10_240,
            "model_type": "gemma3_text",
            "num_hidden_layers": 34,
            "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
            "sliding_window": 1024,
        },
        "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152, "num_attention_heads": 16},
    },
    "gemma 3 4b, saved by transformers 5": {
        "model_type": "gemma3_text",
        **_sizes(2560, 8, 34, 131_072, 262_208),
        "head_dim": 256,
        "sliding_window": 1024,
        "layer_types": _gemma3_kinds(34),
        "_sliding_window_pattern": 6,
        "rope_parameters": {
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
        },
    },
    "deepseek v3": {
        "model_type": "deepseek_v3",
        **_sizes(7168, 128, 61, 163_840, 129_280),
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
        "kv_lora_rank": 512,
        "rope_theta": 10_000,
        "rope_scaling": {
            "beta_fast": 32,
            "beta_slow": 1,
            "factor": 40,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "original_max_position_embeddings": 4096,
            "type": "yarn",
        },
    },
    "gpt-oss 20b": {
        "model_type": "gpt_oss",
        **_sizes(2880, 64, 24, 131_072, 201_088),
        "head_dim": 64,
        "initial_context_length": 4096,
        "layer_types": ["sliding_attention", "full_attention"] * 12,
        "sliding_window": 128,
        "rope_theta": 150_000,
        "rope_scaling": {
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "factor": 32.0,
            "original_max_position_embeddings": 4096,
            "rope_type": "yarn",
            "truncate": False,
        },
    },
    "smollm3 3b": {
        "model_type": "smollm3",
        **_sizes(2048, 16, 36, 65_536, 128_256),
        "no_rope_layer_interval": 4,
        "no_rope_layers": [int((layer + 1) % 4 > 0) for layer in range(36)],
        "layer_types": ["full_attention"] * 36,
        "rope_theta": 5_000_000.0,
        "rope_scaling": None,
        "sliding_window": None,
        "use_sliding_window": False,
    },
    "glm 4 9b": {
        "model_type": "glm",
        **_sizes(4096, 32, 40, 131_072, 151_552),
        "head_dim": 128,
        "partial_rotary_factor": 0.5,
        "rope_theta": 10_000.0,
    },
    "minimax m2": {
        "model_type": "minimax_m2",
        **_sizes(3072, 48, 62, 196_608, 200_064),
        "head_dim": 128,
        "rotary_dim": 64,
        "rope_theta": 5_000_000,
    },
    "mpt 7b": {
        "model_type": "mpt",
        "d_model": 4096,
        "n_heads": 32,
        "n_layers": 32,
        "max_seq_len": 2048,
        "learned_pos_emb": True,
        "attn_config": {"alibi": True, "alibi_bias_max": 8, "attn_impl": "torch", "prefix_lm": False},
        "architectures": ["MPTForCausalLM"],
    },
    "bloom 560m": {"model_type": "bloom", "n_embed": 1024, "n_layer": 24, "num_attention_heads": 16},
    "falcon 7b": {"model_type": "falcon", **_sizes(4544, 71, 32, 2048, 65_024), "alibi": False},
    "falcon rw 1b": {"model_type": "falcon", **_sizes(2048, 32, 24, 2048, 50_304), "alibi": True},
    "gpt-2": {"model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024},
    "gpt-j 6b": {
        "model_type": "gptj",
        "n_embd": 4096,
        "n_head": 16,
        "n_positions": 2048,
        "rotary": True,
        "rotary_dim": 64,
    },
    "pythia 160m": {
        "model_type": "gpt_neox",
        **_sizes(768, 12, 12, 2048, 50_304),
        "rotary_pct": 0.25,
        "rotary_emb_base": 10_000,
    },
    "roberta base": {
        "model_type": "roberta",
        **_sizes(768, 12, 12, 514, 50_265),
        "pad_token_id": 1,
        "type_vocab_size": 1,
    },
    "xlm-roberta base": {
        "model_type": "xlm-roberta",
        **_sizes(768, 12, 12, 514, 250_002),
        "position_embedding_type": "absolute",
    },
    "bert base": {
        "model_type": "bert",
        **_sizes(768, 12, 12, 512, 30_522),
        "position_embedding_type": "absolute",
    },
    "modernbert base": {
        "model_type": "modernbert",
        **_sizes(768, 12, 22, 8192, 50_368),
        "global_attn_every_n_layers": 3,
        "global_rope_theta": 160_000.0,
        "local_attention": 128,
        "local_rope_theta": 10_000.0,
        "position_embedding_type": "absolute",
    },
    "nomic-bert 1.5": {
        "model_type": "nomic_bert",
        "n_embd": 768,
        "n_head": 12,
        "n_positions": 2048,
        "max_trained_positions": 2048,
        "rotary_emb_base": 1000,
        "rotary_emb_fraction": 1.0,
        "rotary_scaling_factor": None,
    },
    "vit base": {
        "model_type": "vit",
        "hidden_size": 768,
        "num_attention_heads": 12,
        "image_size": 224,
        "patch_size": 16,
    },
    "whisper tiny": {
        "model_type": "whisper",
        "d_model": 384,
        "encoder_attention_heads": 6,
        "max_source_positions": 1500,
        "max_target_positions": 448,
    },
    "qwen2-vl 7b": {
        "model_type": "qwen2_vl",
        **_sizes(3584, 28, 28, 32_768, 152_064),
        "rope_theta": 1e6,
        "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
        "sliding_window": 32_768,
        "use_sliding_window": False,
        "vision_config": {"depth": 32, "embed_dim": 1280, "num_heads": 16, "patch_size": 14},
    },
    "hunyuan 7b": {
        "model_type": "hunyuan_v1_dense",
        **_sizes(4096, 32, 32, 32_768, 128_167),
        "rope_theta": 10_000.0,
        "rope_scaling": {
            "alpha": 1000.0,
            "beta_fast": 32,
            "beta_slow": 1,
            "factor": 1.0,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "type": "dynamic",
        },
    },
}
#: what is true of published files all the same: the code of a check, and the severity
TRUE_OF_PUBLISHED = {
    ("gemma 3 4b", "PE107"): "note",  # base 1,000,000 and 10,000 are in the code alone
}
#: as the model card says to extend it: the stated length stays, so that a server's cap does
QWEN_EXTENDED = {
    **PUBLISHED["qwen 2.5 7b"],
    "rope_scaling": {"factor": 4.0, "original_max_position_embeddings": 32_768, "type": "yarn"},
}
