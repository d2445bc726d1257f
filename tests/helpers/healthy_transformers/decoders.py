"""Decoders of text: rotary of every kind, learned and fixed tables, ALiBi, and layers without positions."""

from typing import Any

from tests.helpers.healthy_transformers.row import HEAD_DIM, HEADS, LENGTH, SIZES, SPECIAL, WIDTH, Row, rows

GROUPED: dict[str, Any] = {**SIZES, "num_key_value_heads": 2}
HEADED: dict[str, Any] = {**GROUPED, "head_dim": HEAD_DIM}
EXPERTS: dict[str, Any] = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
LOCAL_EXPERTS: dict[str, Any] = {"num_local_experts": 4, "num_experts_per_tok": 2}
LAYERS: dict[str, Any] = {"sliding_window": 16, "layer_types": ["sliding_attention", "full_attention"]}
HALF: dict[str, Any] = {"rope_theta": 1e4, "partial_rotary_factor": 0.5}
YARN: dict[str, Any] = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 32, "rope_theta": 1e4}
LLAMA3: dict[str, Any] = {
    "rope_type": "llama3",
    "rope_theta": 50.0,
    "factor": 2.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
GPT2: dict[str, Any] = {**SPECIAL, "n_embd": WIDTH, "n_layer": 2, "n_head": HEADS, "n_positions": LENGTH}
LATENT: dict[str, Any] = {
    **SIZES,
    "num_key_value_heads": HEADS,
    "kv_lora_rank": 12,
    "q_lora_rank": 12,
    "qk_rope_head_dim": 6,
    "qk_nope_head_dim": HEAD_DIM,
    "v_head_dim": HEAD_DIM,
    "moe_intermediate_size": 8,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 2,
    "topk_group": 1,
    "first_k_dense_replace": 1,
}
XGLM: dict[str, Any] = {
    **SPECIAL,
    "d_model": WIDTH,
    "num_layers": 2,
    "attention_heads": HEADS,
    "ffn_dim": 48,
    "max_position_embeddings": LENGTH,
}
GPT_NEO: dict[str, Any] = {
    **SPECIAL,
    "hidden_size": WIDTH,
    "num_layers": 2,
    "num_heads": HEADS,
    "attention_types": [[["global", "local"], 1]],
    "window_size": 16,
    "max_position_embeddings": LENGTH,
}
OPT: dict[str, Any] = {**SIZES, "ffn_dim": 48, "word_embed_proj_dim": WIDTH}

DECODERS: dict[str, Row] = {
    **rows(
        "rotary",
        GROUPED,
        "MistralForCausalLM",
        "Qwen2ForCausalLM",
        "OlmoForCausalLM",
        "Olmo2ForCausalLM",
        "GraniteForCausalLM",
        "Starcoder2ForCausalLM",
        "CohereForCausalLM",
        "Phi3ForCausalLM",
        "SeedOssForCausalLM",
        "ArceeForCausalLM",
    ),
    **rows(
        "rotary",
        HEADED,
        "LlamaForCausalLM",
        "Qwen3ForCausalLM",
        "GemmaForCausalLM",
        "HeliumForCausalLM",
        "Ernie4_5ForCausalLM",
        "HunYuanDenseV1ForCausalLM",
    ),
    **rows("rotary, llama 3 scaling", {**GROUPED, "rope_parameters": LLAMA3}, "ApertusForCausalLM"),
    **rows(
        "rotary, half of the head",
        {**GROUPED, "rope_parameters": HALF},
        "StableLmForCausalLM",
        "NemotronForCausalLM",
    ),
    **rows("rotary, interleaved, half of the head", HEADED, "GlmForCausalLM", "Glm4ForCausalLM"),
    **rows("rotary, half of the head", SIZES, "PhiForCausalLM", "PersimmonForCausalLM"),
    **rows("rotary, half of the head", {**SIZES, "rotary_pct": 0.5}, "GPTNeoXForCausalLM"),
    **rows("rotary, sliding layers", {**HEADED, **LAYERS}, "Gemma2ForCausalLM", "Exaone4ForCausalLM"),
    **rows("rotary, base by layer", {**HEADED, **LAYERS}, "Gemma3ForCausalLM"),
    **rows("rotary in sliding layers only", {**HEADED, **LAYERS}, "Cohere2ForCausalLM"),
    **rows(
        "rotary, none in some layers",
        {**GROUPED, "no_rope_layers": [1, 0], "no_rope_layer_interval": 2},
        "SmolLM3ForCausalLM",
    ),
    **rows("rotary, experts", {**GROUPED, **LOCAL_EXPERTS}, "MixtralForCausalLM", "MiniMaxForCausalLM"),
    **rows("rotary, experts", {**HEADED, **EXPERTS}, "Qwen3MoeForCausalLM", "OlmoeForCausalLM"),
    **rows(
        "rotary, yarn, experts, sliding layers",
        {**HEADED, **LOCAL_EXPERTS, **LAYERS, "rope_parameters": YARN},
        "GptOssForCausalLM",
    ),
    **rows("rotary on part of a latent key", LATENT, "DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM"),
    **rows("rotary, interleaved", {**GPT2, "rotary_dim": 4}, "GPTJForCausalLM", "CodeGenForCausalLM"),
    **rows("rotary", SIZES, "FalconForCausalLM"),
    **rows("learned", GPT2, "GPT2LMHeadModel", "GPTBigCodeForCausalLM", "OpenAIGPTLMHeadModel"),
    **rows("learned, local layers", GPT_NEO, "GPTNeoForCausalLM"),
    **rows("learned, two reserved rows", OPT, "OPTForCausalLM"),
    **rows("learned, two reserved rows", SIZES, "BioGptForCausalLM"),
    **rows("sinusoidal, halves", {**GPT2, "dff": 48}, "CTRLLMHeadModel"),
    **rows("sinusoidal, two reserved rows", XGLM, "XGLMForCausalLM"),
    **rows("alibi", {**SPECIAL, "hidden_size": WIDTH, "n_layer": 2, "n_head": HEADS}, "BloomForCausalLM"),
    **rows(
        "alibi",
        {**SPECIAL, "d_model": WIDTH, "n_layers": 2, "n_heads": HEADS, "max_seq_len": LENGTH},
        "MptForCausalLM",
    ),
}
