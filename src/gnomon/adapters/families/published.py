"""What is known of families beyond their configs: bases and widths that their code or their published weights have."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

PLAIN_BASE = 10_000.0  #: what programs take that know of no other

#: the base in the code of transformers 5.24 for a config that states none, where it is not 10,000
CODE_BASES: Mapping[float, tuple[str, ...]] = {
    1e3: ("nomic_bert",),
    1e5: ("helium",),
    1.5e5: ("gpt_oss", "openai_privacy_filter"),
    5e5: (
        *("bitnet", "blt", "cohere", "csm", "ernie4_5", "ernie4_5_moe", "exaone", "flex_olmo", "llama4_text", "olmo3"),
        *("mllama_text_model", "qwen3_vl_text", "qwen3_vl_moe_text", "ernie4_5_vl_moe_text"),
    ),
    1e6: (
        *("cwm", "emu3_text_model", "gemma3_text", "gemma3n_text", "lfm2", "lfm2_moe", "minimax", "ministral3"),
        *("mixtral", "phimoe", "qwen2_vl_text", "qwen2_5_vl_text", "qwen2_5_omni_text", "qwen3_omni_moe_text"),
        "gemma3",
    ),
    2e6: ("smollm3",),
    5e6: ("minimax_m2",),
    1e7: ("longcat_flash",),
    1.2e7: ("apertus",),
}
#: the share of a head that the family's code rotates where a config states none, where it is not all
CODE_SHARES: Mapping[float, tuple[str, ...]] = {
    0.25: ("gpt_neox", "stablelm", "qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"),
    0.5: ("glm", "glm4", "glm4_moe", "phi", "persimmon", "nemotron", "bamba", "recurrent_gemma"),
}


@final
@dataclass(frozen=True)
class Published:
    """The weights that a family published: the base they were trained with, and to which length without scaling."""

    model_type: str
    vocabulary: int | None  #: None: any
    base: float
    trained: int | None
    name: str


#: sources: the config.json of the models named, on the Hugging Face hub
PUBLISHED = (
    Published("llama", 128_256, 5e5, 8192, "Llama 3"),
    Published("llama", 32_016, 1e6, 16_384, "Code Llama"),
    Published("qwen2", None, 1e6, None, "Qwen 1.5, 2 and 2.5"),
    Published("qwen2_moe", None, 1e6, None, "Qwen 1.5 and 2 MoE"),
    Published("qwen3", None, 1e6, None, "Qwen 3"),
    Published("qwen3_moe", None, 1e6, None, "Qwen 3 MoE"),
    Published("mistral", 32_768, 1e6, None, "Mistral 0.3"),
)


def code_base(model_type: Any) -> float:
    """The base that the family's code takes for a config that states none.

    >>> code_base("smollm3"), code_base("llama")
    (2000000.0, 10000.0)
    """
    return next((base for base, names in CODE_BASES.items() if model_type in names), PLAIN_BASE)


def code_share(model_type: Any) -> float:
    """The share of a head that the family's code rotates for a config that states none."""
    return next((share for share, names in CODE_SHARES.items() if model_type in names), 1.0)


def published(config: Mapping[str, Any]) -> Published | None:
    """The published weights that a config looks like: of its type, with its vocabulary."""
    fitting = (p for p in PUBLISHED if p.model_type == config.get("model_type"))
    return next((p for p in fitting if p.vocabulary in (None, config.get("vocab_size"))), None)
