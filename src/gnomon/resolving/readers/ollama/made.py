"""What one of ollama's converters has made of a config."""

from dataclasses import dataclass, field
from typing import final

from gnomon.adapters.families.config_reader import Found

ORIGINAL = "original_max_position_embeddings"
SCALING = "rope_scaling"
#: architectures with a converter that was not read, or only in part
NOT_TRACED = frozenset(
    {"Mistral3ForConditionalGeneration", "Ministral3ForCausalLM", "Gemma4ForConditionalGeneration", "Gemma4ForCausalLM"}
    | {"MllamaForConditionalGeneration", "Gemma3nForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration"}
    | {"Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration", "Olmo3ForCausalLM", "BertModel"}
    | {"NomicBertModel", "NomicBertMoEModel", "DeepseekOCRForCausalLM", "Glm4MoeLiteForCausalLM", "Lfm2ForCausalLM"}
    | {"LagunaForCausalLM"}
)
Values = dict[str, Found]


@final
@dataclass(eq=False)
class Converted:
    """Names are those of GGUF keys without the architecture."""

    architecture: str
    values: Values
    factors: dict[str, tuple[float, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
