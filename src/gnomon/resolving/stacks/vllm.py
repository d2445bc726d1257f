"""vLLM: configs through transformers' classes, many other names for keys beside, tables built once for the server."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.serving.edits import block_of, nested, new_form, old_form, typed
from gnomon.resolving.readers.serving.layers import config_of, layers, view_at
from gnomon.resolving.readers.serving.standards import standard_for
from gnomon.resolving.readers.serving.yarn import Magnitude
from gnomon.resolving.readers.vllm.caps import ALLOWED, caps_of, remarks
from gnomon.resolving.readers.vllm.kinds import turned
from gnomon.resolving.reading import Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import ORIGINAL
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import StackStops

NOW = Choices(
    source="transformers 5",
    kind_key="error",
    yarn_factor="factor",
    yarn_ramp="original",
    yarn_ends="truncate",
    yarn_magnitude="transformers",
    dynamic="served",
    longrope_switch="served",
    longrope_ratio="lengths",
    unknown="error",
)
BEFORE_FACTOR = replace(NOW, yarn_magnitude="factor")
BEFORE_SERVED = replace(BEFORE_FACTOR, dynamic="constant")
BEFORE_TRUNCATE = replace(BEFORE_SERVED, yarn_ends="rounded", source="transformers 4")


@registry.register("vllm")
@final
class VLLM(Stack):
    """vLLM's own classes; models that run through its transformers backend are hf5."""

    name: ClassVar[str] = "vllm"
    title: ClassVar[str] = "vLLM"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("2026-08", "August 2026: yarn by attention_factor and the mscale pair", NOW),
        Version("0.25", "from PR #41277 (April 2026) to v0.25.0 (July 2026): yarn by attn_factor", BEFORE_FACTOR),
        Version("before-41277", "from PR #28244 (November 2025) to April 2026: dynamic as a constant", BEFORE_SERVED),
        Version("before-28244", "before November 2025: the ends of yarn's ramp always rounded", BEFORE_TRUNCATE),
    )
    sources: ClassVar[str] = (
        "model_executor/layers/rotary_embedding/{__init__,yarn_scaling_rope@0cd57848,dynamic_ntk_scaling_rope,"
        "ntk_scaling_rope,llama3_rope,phi3_long_rope_scaled_rope,deepseek_scaling_rope,mrope,gemma4_rope}.py, "
        "transformers_utils/config.py@0036026e, config/model.py@0052a5b8; PRs #28244, #41277, #48351, #48623, #52675, "
        "issues #27722, #48621, #52665; read in August 2026, files of mixed commits"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        """As `Stack.read`; a server for more than the file allows is told of in a note, and read all the same."""
        config = config_of(given, self.title)
        standard = standard_for(config, version.choices)
        file = Keys(config)
        cap, most = caps_of(standard, file, view_at(file, standard.part), given.tokenizer)
        read = layers(config, standard, lambda layer: turned(layer, version.choices), file)
        notes = (*standard.notes, *remarks(standard, cap, most, served))
        found = read.reading(self, version, cap=cap, notes=notes)
        return replace(found, needs=ALLOWED if served is not None and served > most else "")

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """`--hf-overrides` with the wanted block, then with the magnitude of older versions, then in their form."""
        if given.config is None or nested(given) or wanted.block is None:
            return
        yield _override(given, wanted, block_of(wanted))
        try:
            magnitude = Magnitude(wanted)
        except StackStops:
            return
        yield _override(given, wanted, block_of(wanted, magnitude.as_given()))
        block = block_of(wanted, magnitude.as_multiplier())
        yield _override(given, wanted, block)
        inner = {key: value for key, value in block.items() if key != "rope_theta"}
        keys = typed(given, {"rope_scaling": inner, "rope_theta": wanted.base})
        yield Remedy(f"--hf-overrides '{keys}' --max-model-len {wanted.cap}", old_form(given, block))


def _override(given: Given, wanted: Wanted, block: dict[str, Any]) -> Remedy:
    """Ministral's temperature goes where vLLM looks for it, into a mapping beside the block."""
    beta, length = block.get("llama_4_scaling_beta"), block.get(ORIGINAL)
    beside = {} if beta is None else {"llama_4_scaling": {"beta": beta, ORIGINAL: length}}
    keys = typed(given, {"rope_parameters": block, **beside})
    return Remedy(f"--hf-overrides '{keys}' --max-model-len {wanted.cap}", new_form(given, block, **beside))
