"""transformers 4.43 to 4.56: YaRN counted turns in the longest length, then took longest / original as its factor."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Final, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.serving.edits import block_of, old_form, typed_edit
from gnomon.resolving.readers.serving.layers import config_of, layers
from gnomon.resolving.readers.serving.standards import standard_for
from gnomon.resolving.readers.transformers4.turning import turned
from gnomon.resolving.readers.transformers5.turning import longest_length
from gnomon.resolving.reading import Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import NoSuchModel, StackStops

#: model types that came with a version of the fifties, by its second number (from memory)
CAME_WITH: Final = {
    "gemma3_text": 50,
    "gemma3": 50,
    **dict.fromkeys(("qwen3", "qwen3_moe", "llama4_text", "glm4", "deepseek_v3"), 51),
    "smollm3": 53,
    "deepseek_v2": 54,
    "gpt_oss": 55,
    **dict.fromkeys(("hunyuan_v1_dense", "seed_oss"), 56),
}
_NOW: Final = Choices(
    source="transformers 4",
    yarn_factor="ratio",
    yarn_ramp="original",
    yarn_ends="truncate",
    yarn_magnitude="transformers",
    dynamic="sequence",
    longrope_switch="sequence",
    longrope_ratio="factor or lengths",
    unknown="error",
)


@registry.register("hf4")
@final
class TransformersFour(Stack):
    """`AutoModel.from_pretrained` of transformers 4."""

    name: ClassVar[str] = "hf4"
    title: ClassVar[str] = "transformers 4"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("4.55", "4.55 to 4.56", _NOW),
        Version("4.50", "4.50 to 4.54", replace(_NOW, yarn_ends="rounded")),
        Version(
            "4.43",
            "4.43 to 4.49",
            replace(_NOW, yarn_factor="factor", yarn_ramp="maximum", yarn_ends="rounded", yarn_magnitude="own"),
        ),
    )
    sources: ClassVar[str] = (
        "modeling_rope_utils.py at 0044e3b3 (4.43 to 4.49) and in excerpts (4.50 to 4.56), configuration files of "
        "Llama and Qwen; transformers#38224, #33783, #25104, PR #40320, PR #36877, PR #39847, PR #47435; read 2026-08 "
        "and 2026-11. That `truncate` is obeyed from 4.55 on is from memory"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        config = config_of(given, self.title)
        shared = Keys(config)
        standard = standard_for(config, version.choices)
        cap = longest_length(standard.longest)
        if cap is not None:
            shared.note("cap", int(cap), standard.longest.key)
        try:
            found = layers(config, standard, lambda layer: turned(layer, version.choices), shared)
        except StackStops as error:
            if standard.notes:  # read as Llama: its own code may well take it
                raise NoSuchModel(f"Llama would end with: {error}. The model's own code was not traced") from error
            raise
        notes = [*standard.notes, "longer inputs are not refused"]
        if (came := CAME_WITH.get(standard.model_type, 0)) > int(version.name.split(".")[1]):
            notes.append(f"{standard.model_type} came with 4.{came}: read by the rules of {version.since} all the same")
        return found.reading(self, version, cap=None if cap is None else int(cap), notes=notes)

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """The block in the old spelling, with a longest length that makes YaRN's factor or its ramp right."""
        block = block_of(wanted)
        original, factor = wanted.original, wanted.factor
        lengths = [None, original and factor and int(original * factor), original]
        for longest in dict.fromkeys(lengths):
            more = {} if longest is None else {"max_position_embeddings": longest}
            beside = {key: value for key, value in block.items() if key != "rope_theta"}
            keys = {"rope_theta": wanted.base, "rope_scaling": beside, **more}
            after = old_form(given, block, **more)
            yield Remedy(f"edit config.json: {typed_edit(given, keys, after)}", after)
