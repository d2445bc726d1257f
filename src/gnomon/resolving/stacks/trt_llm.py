"""TensorRT-LLM (PyTorch backend): its own reading of the block that transformers' classes hold."""

import math
from collections.abc import Iterator
from typing import Any, ClassVar, Final, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.serving.caps import whole_cap
from gnomon.resolving.readers.serving.edits import block_of, nested, new_form, typed_edit
from gnomon.resolving.readers.serving.layers import config_of, layers, rule_of
from gnomon.resolving.readers.serving.numbers import number
from gnomon.resolving.readers.serving.spelling import kind_in_file
from gnomon.resolving.readers.serving.standards import standard_for
from gnomon.resolving.readers.serving.yarn import Magnitude
from gnomon.resolving.readers.transformers5 import Standard
from gnomon.resolving.readers.trt_llm.kinds import GEMMA3, GEMMA4, turned
from gnomon.resolving.reading import Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import NoSuchModel, StackStops

NOW = Choices(
    source="transformers 5",
    kind_key="type",
    yarn_factor="factor",
    yarn_ramp="original",
    yarn_ends="rounded",
    yarn_magnitude="ratio",
    dynamic="alpha",
    longrope_switch="served",
    longrope_ratio="lengths",
    unknown="error",
)
#: model types that its index of architectures lists
MODELS: Final = frozenset(
    {
        *("llama", "llama4", "llama4_text", "mistral", "mistral3", "mixtral", "nemotron", "phi3", "starcoder2"),
        *("qwen2", "qwen2_moe", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text", "qwen3", "qwen3_moe"),
        *("qwen3_vl", "qwen3_vl_text", "qwen3_vl_moe", "qwen3_vl_moe_text", "gemma3", "gemma3_text", "gemma4"),
        *("gemma4_text", "gpt_oss", "deepseek_v3", "cohere2", "minimax_m2", "seed_oss", "hunyuan_v1_dense"),
        *("hunyuan_v1_moe", "exaone4", "glm4_moe"),
    }
)
NOT_MULTIPLIED: Final = frozenset({"su", "longrope", "llama3", "yarn"})
LLAMA4_CAP: Final = 8192
UNSTATED: Final = 2048


@registry.register("trt-llm")
@final
class TensorRTLLM(Stack):
    """The PyTorch backend; engines built with the older flow are not covered."""

    name: ClassVar[str] = "trt-llm"
    title: ClassVar[str] = "TensorRT-LLM"
    versions: ClassVar[tuple[Version, ...]] = (Version("2026-08", "August 2026: the PyTorch backend", NOW),)
    sources: ClassVar[str] = (
        "_torch/attention_backend/interface.py, functional.py (RopeEmbeddingUtils), _torch/models/{modeling_utils,"
        "modeling_gpt_oss,modeling_gemma3,modeling_gemma4,_arch_index}.py; PR #6353, issue #1595; read in August 2026, "
        "files of mixed commits"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        """As `Stack.read`; LongRoPE's list is chosen by the longest sequence that the server is started for."""
        config = config_of(given, self.title)
        standard = standard_for(config, version.choices)
        if standard.model_type not in MODELS:
            raise NoSuchModel(f"TensorRT-LLM's index of architectures has no {standard.model_type}")
        file = Keys(config)
        cap = _cap(standard, file, version.choices)
        read = layers(config, standard, lambda layer: turned(layer, version.choices), file)
        return read.reading(self, version, cap=cap, notes=standard.notes)

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """Edits of config.json: the wanted block, then its magnitude as an `mscale` over 0."""
        if given.config is None or nested(given) or wanted.block is None:
            return
        yield _edit(given, block_of(wanted))
        try:
            magnitude = Magnitude(wanted)
        except StackStops:
            return
        yield _edit(given, block_of(wanted, magnitude.as_pair()))


def _edit(given: Given, block: dict[str, Any]) -> Remedy:
    after = new_form(given, block)
    return Remedy(f"edit config.json: {typed_edit(given, {'rope_parameters': block}, after)}", after)


def _cap(standard: Standard, file: Keys, choices: Choices) -> int:
    """max_position_embeddings, times `factor` unless the kind has a length of its own; 8192 for Llama 4."""
    if standard.model_type.startswith("llama4"):
        file.note("cap", LLAMA4_CAP)
        return LLAMA4_CAP
    longest = number(file, "longest length", standard.longest)
    if longest is None:
        file.note("cap", UNSTATED)
        return UNSTATED
    block = standard.blocks[0]
    kind = kind_in_file(file, block, choices) or rule_of(block)
    if standard.model_type not in GEMMA3 | GEMMA4 and block.turns and kind not in NOT_MULTIPLIED:
        longest *= block.keys(file).number("factor of the cap", "factor", default=1.0)
        longest = math.ceil(longest) if math.isfinite(longest) else longest
    return whole_cap(file, longest, standard.longest.key)
