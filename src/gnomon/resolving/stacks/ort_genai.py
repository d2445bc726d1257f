"""onnxruntime-genai: the model builder reads transformers' config object and bakes tables into the graph."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.ort_genai.rope import scaled
from gnomon.resolving.readers.serving.edits import NEW, OLD, edited, typed_edit
from gnomon.resolving.readers.serving.standards import standard_for
from gnomon.resolving.readers.transformers5 import Block, Standard
from gnomon.resolving.readers.which_layers import by_flags, listed_flags
from gnomon.resolving.reading import ALL, LayerReading, Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import ORIGINAL, Scaled
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import NoSuchModel, StackStops

NOW = Choices(source="transformers 5", kind_key="rope_type", yarn_ends="exact", unknown="plain")
#: model types with a builder that was read
BUILDERS = frozenset(
    {"llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "gemma3_text", "gpt_oss", "granite"}
    | {"hunyuan_v1_dense", "internlm2", "olmo", "phi3", "smollm3"}
)
GEMMAS = ("gemma2", "gemma3", "gemma3_text")
LOCAL = "rope_local_base_freq"


@registry.register("ort-genai")
@final
class OrtGenAi(Stack):
    """`python -m onnxruntime_genai.models.builder`."""

    name: ClassVar[str] = "ort-genai"
    title: ClassVar[str] = "onnxruntime-genai"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("2026-08", "a0c04eb1 (August 2026), beside transformers 5", NOW),
        Version("2026-08-hf4", "the same beside transformers 4", replace(NOW, source="transformers 4")),
    )
    sources: ClassVar[str] = (
        "src/python/py/models/builders/{base,llama,phi,gemma,hunyuan,smollm}.py at a0c04eb1 (August 2026); PR #1161"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        if given.config is None:
            raise NoSuchModel("how onnxruntime-genai reads a GGUF file was not traced")
        outer = Keys(given.config)
        name = given.config.get("model_type")
        if not isinstance(name, str) or name not in BUILDERS:
            raise NoSuchModel(f"onnxruntime-genai has no builder for {name!r}, or it was not traced")
        standard = standard_for(given.config, version.choices)
        keys = outer.part(standard.part.rstrip(".")) if standard.part else outer
        layers = tuple(_layers(keys, name, standard, version.choices))
        cap = keys.whole("cap", "max_position_embeddings", default=standard.longest.value)
        notes = ("the cap is the length of the tables",)
        return Reading(self.name, version.name, self.sure, layers, cap, outer.used(), outer.ignored(), notes)

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """The betas written out, which alone switch YaRN on; other kinds in the usual form."""
        block = {key: value for key, value in (wanted.block or {}).items() if key not in ("rope_theta", "rope_type")}
        betas = {"beta_fast": 32.0, "beta_slow": 1.0} if wanted.rule == "yarn" else {}
        keys = {"rope_theta": wanted.base, OLD: {"rope_type": wanted.rule, **betas, **block}}
        after = edited(given, {NEW: None, **keys})
        yield Remedy(f"edit config.json before building: set {typed_edit(given, keys, after)}", after)


def _layers(keys: Keys, name: str, standard: Standard, choices: Choices) -> Iterator[LayerReading]:
    turning = next((block for block in standard.blocks if block.kind == "full_attention" and block.turns), None)
    main = turning or next((block for block in standard.blocks if block.turns), None)
    if main is None:
        raise NoSuchModel("nothing turns in this model")
    block = keys.part(OLD if keys.values.get(OLD) is not None else NEW)
    if any(isinstance(value, dict) for value in block.values.values()):
        block = block.part("full_attention")
    head = int(main.head_dim.value)
    over = _over(keys, block, main, head)
    rule, schedule = scaled(block, over, head, choices, builder=name)
    layer = LayerReading(ALL, head, over.dim, over.base, rule, "half", schedule, softmax=_softmax(keys, name, head))
    if name in ("gemma3", "gemma3_text"):
        yield replace(layer, kind="full_attention")
        yield _local(keys, block, layer, over, choices)
    elif name == "smollm3":
        yield from by_flags(listed_flags(keys), layer, replace(layer, rotary_dim=0, base=None, rule="none"))
    else:
        yield layer


def _over(keys: Keys, block: Keys, main: Block, head: int) -> Scaled:
    base = keys.number("base", "rope_theta", f"{NEW}.rope_theta", "rope_embedding_base")
    base = block.number("base", "rope_theta") if base is None else base
    if base is None:
        base = main.base if isinstance(main.base, int | float) else 1e4
        keys.note("base", base)
    share = keys.number("share of a head", "partial_rotary_factor", f"{NEW}.partial_rotary_factor", default=1.0)
    dim = int(share * head)
    if not 0 < dim <= head:
        raise StackStops(f"a share of {share:g} rotates {dim} of {head} columns")
    longest = keys.number("table length", "max_position_embeddings")
    original = keys.number("original length", ORIGINAL)
    original = block.number("original length", ORIGINAL) if original is None else original
    return Scaled(float(base), dim, longest, longest if original is None else original)


def _softmax(keys: Keys, name: str, head: int) -> float:
    if name in GEMMAS:
        scalar = keys.number("softmax scale", "query_pre_attn_scalar", default=256.0)
        if not scalar > 0:
            raise StackStops(f"query_pre_attn_scalar is {scalar:g}, which has no root")
        return math.sqrt(head / scalar)
    scale = keys.number("softmax scale", "attention_multiplier") if name == "granite" else None
    return float(scale) * math.sqrt(head) if scale else 1.0


def _local(keys: Keys, block: Keys, layer: LayerReading, over: Scaled, choices: Choices) -> LayerReading:
    """A second table over another base; whatever scales the first one is still in force."""
    base = keys.number("base of sliding layers", LOCAL)
    if base is None or choices.source == "transformers 5":
        raise StackStops(f"AttributeError: 'Gemma3TextConfig' object has no attribute {LOCAL!r} under transformers 5")
    rule, schedule = scaled(block, replace(over, base=float(base)), layer.head_dim, choices, builder="gemma3")
    return replace(layer, kind="sliding_attention", base=float(base), rule=rule, schedule=schedule)
