"""Text Generation Inference: transformers 4.51's configs, `rope_scaling` read raw, the environment before the file."""

from collections.abc import Iterator
from typing import Any, ClassVar, Final, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.serving.caps import whole_cap
from gnomon.resolving.readers.serving.edits import block_of, edited, nested, old_form, part_of, typed_edit
from gnomon.resolving.readers.serving.layers import config_of, layers
from gnomon.resolving.readers.serving.standards import standard_for
from gnomon.resolving.readers.serving.yarn import Magnitude
from gnomon.resolving.readers.tgi.kinds import turned
from gnomon.resolving.reading import Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import ORIGINAL
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import NoSuchModel, StackStops

LAST = Choices(
    source="transformers 4",
    kind_key="rope_type",
    yarn_factor="factor",
    yarn_ramp="original",
    yarn_ends="rounded",
    yarn_magnitude="ratio",
    dynamic="sequence",
    longrope_switch="position",
    longrope_ratio="lengths",
    unknown="error",
)
LENGTHS: Final = ("max_position_embeddings", "max_seq_len", "n_positions")
#: model types with code of its own
MODELS: Final = frozenset(
    {
        *("llama", "mistral", "mixtral", "gemma", "gemma2", "gemma3", "gemma3_text", "cohere", "phi", "phi3"),
        *("deepseek_v2", "deepseek_v3", "gpt_neox", "gptj", "falcon", "starcoder2", "qwen2", "qwen2_vl"),
        *("qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"),
    }
)


@registry.register("tgi")
@final
class TextGenerationInference(Stack):
    """Its flash models; the others run as transformers 4.51 has them."""

    name: ClassVar[str] = "tgi"
    title: ClassVar[str] = "TGI"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("2026-01", "January 2026, where the repository was archived", LAST),
    )
    sources: ClassVar[str] = (
        "text-generation-inference@db931fcf: server/text_generation_server/layers/rotary.py, "
        "models/custom_modeling/flash_*_modeling.py, launcher/src/main.rs; issue #2172, PR #529; read in August 2026"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        """As `Stack.read`. ROPE_SCALING and ROPE_FACTOR are taken as not set; memory may leave less than the cap."""
        config = config_of(given, self.title)
        standard = standard_for(config, version.choices)
        if standard.model_type not in MODELS:
            raise NoSuchModel(f"TGI has no {standard.model_type} of its own and runs that of transformers 4.51 (hf4)")
        file = Keys(config)
        cap = _cap(file)
        read = layers(config, standard, lambda layer: turned(layer, version.choices), file)
        return read.reading(self, version, cap=cap, notes=standard.notes)

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """The flags for dynamic scaling, then edits of config.json in the form of transformers 4."""
        if given.config is None or nested(given) or wanted.block is None:
            return
        block = block_of(wanted)
        if wanted.rule == "dynamic" and wanted.factor:
            after = edited(given, {"rope_scaling": {"rope_type": "dynamic", "factor": wanted.factor}})
            yield Remedy(f"--rope-scaling dynamic --rope-factor {wanted.factor:g}", after)
        yield _edit(given, block, _beside(wanted))
        if wanted.rule == "linear" and wanted.factor:
            yield _edit(given, *_as_lists(given, wanted))
        try:
            magnitude = Magnitude(wanted)
        except StackStops:
            return
        yield _edit(given, block_of(wanted, magnitude.as_pair()), {})


def _cap(file: Keys) -> int | None:
    """The first of three keys at the top of the file; text models inside another config have none."""
    for name in LENGTHS:
        longest = file.number("length", name)
        if longest is not None:
            return whole_cap(file, longest, name)
    return None


def _beside(wanted: Wanted) -> dict[str, Any]:
    return {ORIGINAL: wanted.original} if wanted.rule == "longrope" and wanted.original else {}


def _as_lists(given: Given, wanted: Wanted) -> tuple[dict[str, Any], dict[str, Any]]:
    """Linear scaling as LongRoPE with one number in both lists, from a length that leaves cos and sin as they are."""
    config = given.config or {}
    part = part_of(config)
    longest = (config[part] if part else config).get("max_position_embeddings")
    numbers = [wanted.factor] * (wanted.rotary_dim // 2)
    block = {"rope_type": "longrope", "short_factor": numbers, "long_factor": numbers, "rope_theta": wanted.base}
    return block, {ORIGINAL: longest}


def _edit(given: Given, block: dict[str, Any], more: dict[str, Any]) -> Remedy:
    inner = {key: value for key, value in block.items() if key != "rope_theta"}
    keys = {"rope_theta": block["rope_theta"], "rope_scaling": inner, **more}
    after = old_form(given, block, **more)
    return Remedy(f"edit config.json: {typed_edit(given, keys, after)}", after)
