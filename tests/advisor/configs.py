"""Configs of checkpoints that the cases start from."""

LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8}
LLAMA |= {"num_hidden_layers": 32, "vocab_size": 32000}
LLAMA_4K = {**LLAMA, "max_position_embeddings": 4096, "rope_theta": 10000.0}
QWEN_YARN = {
    "model_type": "qwen2",
    "hidden_size": 3584,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "num_hidden_layers": 28,
    "vocab_size": 152064,
    "max_position_embeddings": 131072,
    "rope_theta": 1e6,
    "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
}
BERT = {
    "model_type": "bert",
    "hidden_size": 768,
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "max_position_embeddings": 512,
    "vocab_size": 30522,
}
BLOOM = {"model_type": "bloom", "hidden_size": 1024, "n_head": 16, "n_layer": 24, "vocab_size": 250880}
T5 = {"model_type": "t5", "d_model": 512, "d_kv": 64, "num_heads": 8, "num_layers": 6, "vocab_size": 32128}
M2M = {"model_type": "m2m_100", "d_model": 1024, "max_position_embeddings": 1024, "vocab_size": 128112}
NEMOTRON = {"model_type": "nemotron_h", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8}
GEMMA = {
    "model_type": "gemma3_text",
    "hidden_size": 1152,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "head_dim": 256,
    "num_hidden_layers": 26,
    "max_position_embeddings": 32768,
    "sliding_window": 512,
    "rope_theta": 1e6,
    "rope_local_base_freq": 10000.0,
    "sliding_window_pattern": 6,
}
VIT = {"model_type": "vit", "hidden_size": 768, "num_attention_heads": 12, "image_size": 224, "patch_size": 16}
QWEN_VL = {
    "model_type": "qwen2_vl",
    "hidden_size": 1536,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "num_hidden_layers": 28,
    "max_position_embeddings": 32768,
    "rope_theta": 1e6,
    "vocab_size": 151936,
    "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
}
WHISPER = {"model_type": "whisper", "d_model": 384, "encoder_attention_heads": 6, "max_source_positions": 1500}
WHISPER |= {"encoder_layers": 4, "decoder_attention_heads": 6, "max_target_positions": 448}
DINO = {"model_type": "dinov3_vit", "hidden_size": 384, "num_attention_heads": 6, "image_size": 224, "patch_size": 16}
DEBERTA = {
    "model_type": "deberta-v2",
    "hidden_size": 768,
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "relative_attention": True,
    "position_buckets": 256,
    "pos_att_type": ["p2c", "c2p"],
    "vocab_size": 128100,
    "position_biased_input": False,
    "max_position_embeddings": 512,
    "norm_rel_ebd": "layer_norm",
}
