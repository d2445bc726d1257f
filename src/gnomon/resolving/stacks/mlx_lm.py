"""mlx-lm: fields of the raw config.json, those that the model's own file asks for."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.mlx_lm.layers import layers_of
from gnomon.resolving.readers.mlx_lm.models import ABSENT, MODELS, NOT_TRACED, Model
from gnomon.resolving.readers.serving.edits import NEW, OLD, edited, part_of, typed_edit
from gnomon.resolving.reading import Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.yarn import transformers_magnitude
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import NoSuchModel, StackStops

NOW = Choices(
    kind_key="type",
    yarn_factor="factor",
    yarn_ramp="original",
    yarn_ends="rounded",
    yarn_magnitude="ratio",
    dynamic="sequence",
    longrope_switch="always",
    longrope_ratio="lengths",
    unknown="error",
)


@registry.register("mlx-lm")
@final
class MlxLm(Stack):
    """`mlx_lm.load` on a checkpoint folder."""

    name: ClassVar[str] = "mlx-lm"
    title: ClassVar[str] = "mlx-lm"
    versions: ClassVar[tuple[Version, ...]] = (Version("2026-08", "d78bf58e (August 2026)", NOW),)
    sources: ClassVar[str] = (
        "mlx_lm/models/*.py at d78bf58e (August 2026), single files older or newer; PR #660, PR #1507, #1698 (glm), "
        "#953; internlm2.py and internlm3.py: positions doubled where nothing is scaled"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        if given.config is None:
            raise NoSuchModel("mlx-lm does not read GGUF files for inference; how it converts them was not traced")
        outer = Keys(given.config)
        name, model = _model(outer)
        keys = _part(outer, name, model)
        layers = tuple(layers_of(keys, name, model, version.choices))
        notes = ("no length is enforced, and no rows are reordered",)
        return Reading(self.name, version.name, self.sure, layers, None, outer.used(), outer.ignored(), notes)

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """The block written where the model's file looks for it."""
        model = MODELS.get(str((given.config or {}).get("model_type")))
        if model is None or model.kinds == "gemma4":
            return
        block = {key: value for key, value in (wanted.block or {}).items() if key not in ("rope_theta", "type")}
        block = {"type": wanted.rule, **block}
        yield _written(given, model, wanted, block)
        if wanted.rule == "yarn" and wanted.factor and wanted.factor > 1:
            yield _written(given, model, wanted, _as_mscale(block, wanted.factor))


def _written(given: Given, model: Model, wanted: Wanted, block: Mapping[str, Any]) -> Remedy:
    if model.block == NEW:
        edits: dict[str, Any] = {NEW: {**block, "rope_theta": wanted.base}}
    else:
        scaled = dict(block) if wanted.rule != "default" else None
        edits = {model.base_key: wanted.base, OLD: scaled, **_local(given)}
    removed = {NEW: None} if model.block == OLD else {}
    after = edited(given, {**edits, **removed})
    return Remedy(f"edit config.json: set {typed_edit(given, edits, after)}", after)


def _as_mscale(block: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """The factor on cos and sin of transformers 5 as the one number that mlx-lm reads: 0.1 mscale ln(s) + 1."""
    aim = transformers_magnitude(factor, Keys(block))
    held = {key: value for key, value in block.items() if key not in ("attention_factor", "mscale", "mscale_all_dim")}
    return {**held, "mscale": float(f"{(aim - 1) / (0.1 * math.log(factor)):.12g}"), "mscale_all_dim": 0}


def _model(keys: Keys) -> tuple[str, Model]:
    name = keys.values.get("model_type")
    if isinstance(name, str) and name in ABSENT:
        raise NoSuchModel(f"mlx-lm has no model file for {name!r}")
    if not isinstance(name, str) or name in NOT_TRACED or name not in MODELS:
        raise NoSuchModel(f"mlx-lm's model file for {name!r} was not traced")
    return name, MODELS[name]


def _part(keys: Keys, name: str, model: Model) -> Keys:
    """The text model's fields; qwen2_vl.py takes the whole file where there is no inner config."""
    if name == "qwen2_vl" and isinstance(keys.values.get("text_config"), Mapping):
        return keys.part("text_config")
    if not model.part:
        return keys
    if not isinstance(keys.values.get(model.part), Mapping):
        raise StackStops(f"TypeError: ModelArgs.__init__() missing a required argument: {model.part!r}")
    return keys.part(model.part)


def _local(given: Given) -> dict[str, float]:
    """The base of the sliding layers, where only a nested block has it."""
    config = given.config or {}
    part = part_of(config)
    block = (config[part] if part else config).get(NEW)
    sliding = block.get("sliding_attention") if isinstance(block, Mapping) else None
    base = sliding.get("rope_theta") if isinstance(sliding, Mapping) else None
    return {} if base is None else {"rope_local_base_freq": base}
