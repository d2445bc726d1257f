"""Which families of transformers are compared with gnomon, by which encoding, in which test.

`python -m tests.helpers.parity_table` prints it as a Markdown table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gnomon.encodings import from_hf_config
from gnomon.encodings.base import name_of
from tests.helpers.tiny_transformers import tiny_fields

ROTARY = "test_rotary_decoders.py::test_gnomons_rotation_gives_the_same_hidden_states"
ENCODERS = "test_rotary_encoders.py::test_gnomons_rotation_gives_the_same_hidden_states"
TABLE = "test_tables.py::test_a_learned_table"
IMAGE = "test_tables.py::test_an_image_has_its_class_token_at_position_0_and_its_patches_row_by_row"
TERMS = "test_content_terms.py"


@dataclass(frozen=True)
class Row:
    """A family, the config and the arguments that give its encoding, and the test under tests/parity."""

    family: str
    model_type: str
    test: str
    config: Mapping[str, Any] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def encoding(self) -> str:
        """The registered name of what the config gives, with its frequency rule if it has one."""
        made = from_hf_config({**tiny_fields(self.model_type), **self.config}, **self.asked)
        rule = made.options.get("frequencies", {}).get("kind", "plain")
        return name_of(type(made)) + ("" if rule == "plain" else f", {rule}")


def scaled(kind: str, **fields: Any) -> dict[str, Any]:
    lists = {"short_factor": [1.0] * 4, "long_factor": [2.0] * 4} if kind == "longrope" else {"factor": 4.0}
    rule = {"rope_type": kind, "original_max_position_embeddings": 16, **lists, **fields}
    return {"rope_parameters": rule}


ENCODER, DECODER, EMBEDDING = {"stack": "encoder"}, {"stack": "decoder"}, {"part": "embedding"}
FIRST, LAST = {"layer": 0}, {"layer": 1}
BOTH = {"layer_types": ["sliding_attention", "full_attention"]}
ROWS = (
    Row("BERT", "bert", TABLE),
    Row("RoBERTa, XLM-R, CamemBERT", "roberta", TABLE),
    Row("ELECTRA, ALBERT, DistilBERT", "electra", TABLE),
    Row("GPT-2, GPT-Neo", "gpt2", TABLE),
    Row("OPT", "opt", TABLE),
    Row("BioGPT", "biogpt", TABLE),
    Row("BART, mBART, PLBART", "bart", "test_tables.py::test_a_learned_table_of_each_stack", asked=ENCODER),
    Row("Llama", "llama", ROTARY),
    Row("Llama, linear", "llama", ROTARY, scaled("linear")),
    Row("Llama, dynamic", "llama", ROTARY, scaled("dynamic")),
    Row("Llama, YaRN", "llama", ROTARY, scaled("yarn")),
    Row("Llama, LongRoPE", "llama", ROTARY, scaled("longrope")),
    Row("Llama, Llama 3", "llama", ROTARY, scaled("llama3", low_freq_factor=1.0, high_freq_factor=4.0)),
    Row("Llama, proportional", "llama", ROTARY, scaled("proportional")),
    Row("Mistral, Mixtral, OLMo 2, Granite, Nemotron, Persimmon, StarCoder 2", "mistral", ROTARY),
    Row("Qwen2, Qwen3", "qwen2", ROTARY),
    Row("Gemma, Gemma 2", "gemma2", ROTARY),
    Row("Gemma 3, sliding layers", "gemma3_text", ROTARY, BOTH, FIRST),
    Row("Gemma 3, full layers", "gemma3_text", ROTARY, BOTH, LAST),
    Row("Gemma 4, sliding layers", "gemma4_text", ROTARY, asked=FIRST),
    Row("Gemma 4, full layers", "gemma4_text", ROTARY, asked=LAST),
    Row("Phi, Phi-3", "phi3", ROTARY),
    Row("Phi-3, LongRoPE", "phi3", ROTARY, scaled("longrope")),
    Row("GPT-NeoX, StableLM", "gpt_neox", ROTARY),
    Row("GPT-J, CodeGen", "gptj", ROTARY),
    Row("GLM, GLM 4, ERNIE 4.5, Helium", "glm", ROTARY),
    Row("Cohere", "cohere", ROTARY),
    Row("Cohere 2, sliding layers", "cohere2", ROTARY, BOTH, FIRST),
    Row("Cohere 2, full layers", "cohere2", ROTARY, BOTH, LAST),
    Row("SmolLM3, layers without", "smollm3", ROTARY, {"no_rope_layers": [0, 1]}, FIRST),
    Row("Llama 4", "llama4_text", ROTARY, asked=FIRST),
    Row("Llama 4, layers without", "llama4_text", ROTARY, asked={"layer": 3}),
    Row("GPT-OSS", "gpt_oss", ROTARY),
    Row("DeepSeek V2, V3", "deepseek_v3", "test_rotary_decoders.py::test_deepseek_turns_the_last_part_of_each_head"),
    Row("Falcon", "falcon", "test_rotary_decoders.py::test_falcon_rotates"),
    Row("Falcon, ALiBi", "falcon", "test_alibi_models.py::test_falcon_with_sdpa", {"alibi": True}),
    Row("Bloom", "bloom", "test_alibi_models.py::test_bloom"),
    Row("MPT", "mpt", "test_alibi_models.py::test_mpt"),
    Row("T5, mT5, Switch; encoder", "t5", "test_bucket_models.py::test_t5_and_its_kin", asked=ENCODER),
    Row("T5, mT5, Switch; decoder", "t5", "test_bucket_models.py::test_t5_and_its_kin", asked=DECODER),
    Row("UMT5", "umt5", "test_bucket_models.py::test_t5_and_its_kin", asked=ENCODER),
    Row("MPNet, embeddings", "mpnet", TABLE, asked=EMBEDDING),
    Row("MPNet, attention", "mpnet", "test_bucket_models.py::test_mpnet", asked=LAST),
    Row(
        "DeBERTa, DeBERTa-v2, v3",
        "deberta-v2",
        f"{TERMS}::test_deberta",
        {"relative_attention": True, "position_biased_input": False, "pos_att_type": "c2p|p2c"},
    ),
    Row("XLNet", "xlnet", f"{TERMS}::test_xlnets_config_gives_the_terms_that_its_layers_have"),
    Row("RoFormer", "roformer", "test_rotary_encoders.py::test_roformer_turns_neighbouring_pairs"),
    Row("ESM, absolute", "esm", TABLE),
    Row("ESM, rotary", "esm", ENCODERS, {"position_embedding_type": "rotary"}),
    Row("ModernBERT", "modernbert", ENCODERS, asked=LAST),
    Row("NomicBERT, EuroBERT", "nomic_bert", ENCODERS),
    Row(
        "Whisper, encoder",
        "whisper",
        "test_tables.py::test_whisper_listens_with_sines_and_writes_with_a_learned_table",
        asked=ENCODER,
    ),
    Row(
        "Whisper, decoder",
        "whisper",
        "test_tables.py::test_whisper_listens_with_sines_and_writes_with_a_learned_table",
        asked=DECODER,
    ),
    Row("M2M100", "m2m_100", "test_tables.py::test_m2m100_starts_behind_its_padding"),
    Row(
        "Wav2Vec2-Conformer, relative",
        "wav2vec2-conformer",
        f"{TERMS}::test_wav2vec2_conformer_has_the_terms_of_transformer_xl",
    ),
    Row(
        "Wav2Vec2-Conformer, rotary",
        "wav2vec2-conformer",
        "test_rotary_encoders.py::test_wav2vec2_conformer_turns_its_hidden_states_before_they_are_projected",
        {"position_embeddings_type": "rotary"},
    ),
    Row("ViT, DeiT, ViT-MSN", "vit", IMAGE),
    Row("DINOv2", "dinov2", IMAGE),
    Row("DINOv3", "dinov3_vit", "test_grid_rotations.py::test_dinov3_turns_by_the_centres_of_its_patches"),
    Row("BEiT, embeddings", "beit", IMAGE, asked=EMBEDDING),
    Row("BEiT, attention", "beit", "test_windows.py::test_beit_has_rows_of_its_own_for_the_class_token", asked=LAST),
    Row(
        "Swin", "swin", "test_windows.py::test_swin_has_a_table_in_each_layer_and_other_heads_in_each_stage", asked=LAST
    ),
    Row("Swin v2", "swinv2", "test_windows.py::test_swin_v2_computes_its_bias_from_the_offset", asked=LAST),
    Row(
        "Qwen2-VL, Qwen2.5-VL, Qwen3-VL; text",
        "qwen2_vl",
        "test_grid_rotations.py::test_text_among_images_turns_by_three_coordinates",
    ),
    Row(
        "Qwen2-VL, images",
        "qwen2_vl",
        "test_grid_rotations.py::test_the_image_model_of_qwen2_vl_turns_by_height_and_width",
        asked={"stack": "vision"},
    ),
)


def markdown() -> str:
    """The rows as a Markdown table."""
    lines = ["| family | encoding | test in tests/parity |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {row.family} | `{row.encoding}` | `{row.test}` |" for row in ROWS)])


if __name__ == "__main__":
    print(markdown())  # noqa: T201
