"""What llama.cpp's converter sees of a config: `AutoConfig.to_dict()` where transformers has the class, else the file.

Source: `ModelBase.load_hparams` and `TextModel.__init__` in `conversion/base.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from gnomon.adapters.families.config_reader import HEADS, WIDTH, Found
from gnomon.resolving.readers.llama_cpp.architectures import ARCHITECTURE_OF, WITHOUT_CLASS
from gnomon.resolving.readers.transformers5 import Block, Standard, standardised
from gnomon.resolving.reading import DEFAULT
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import ConfigStops, NoSuchModel, StackStops

TEXT = "text_config"
NEW, OLD = "rope_parameters", "rope_scaling"
BASES = ("global_rope_theta", "rope_global_theta", "rope_theta_global", "rope_theta", "rotary_emb_base")
LENGTHS = ("max_position_embeddings", "n_ctx", "n_positions", "max_length", "max_sequence_length", "model_max_length")


@final
@dataclass(frozen=True, eq=False)
class Held:
    """A rotary block, with the path of each value in the file."""

    head: Found
    values: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)

    def found(self, name: str, default: Any = None) -> Found:
        """A value of the block and where it stands."""
        value = self.values.get(name)
        return Found(default, DEFAULT) if value is None else Found(value, self.origins.get(name, DEFAULT))


@final
@dataclass(frozen=True, eq=False)
class Source:
    """`architecture` is llama.cpp's name, `block` that of the layers that see everything, `sliding` of the others."""

    architecture: str
    model_type: str
    config: Mapping[str, Any]
    block: Held
    sliding: Held | None
    context: Found

    def find(self, *names: str, default: Any = None) -> Found:
        """A key of the text model, or of the file around it."""
        inner = self.config.get(TEXT)
        for name in names:
            if isinstance(inner, Mapping) and inner.get(name) is not None:
                return Found(inner[name], f"{TEXT}.{name}")
            if self.config.get(name) is not None:
                return Found(self.config[name], name)
        return Found(default, DEFAULT)


def source_of(config: Mapping[str, Any], *, new_form: bool) -> Source:
    """`new_form`: whether rope_parameters are read (since PR #18013).

    Raises NoSuchModel for a model that has no converter, or one that was not read.
    """
    seen = config if new_form else without_new_form(config)
    outer = seen.get("model_type")
    if isinstance(outer, str) and outer in WITHOUT_CLASS:
        return _raw(seen, outer)
    try:
        standard = standardised(seen)
    except ConfigStops:  # AutoConfig ends, and the converter reads the file itself
        return _raw(seen, str(outer))
    architecture = ARCHITECTURE_OF.get(str(outer)) or ARCHITECTURE_OF.get(standard.model_type)
    if architecture is None:
        raise NoSuchModel(f"llama.cpp has no converter for {standard.model_type!r}, or it was not traced")
    return Source(architecture, standard.model_type, seen, _held(_main(standard)), _sliding(standard), standard.longest)


def without_new_form(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config as transformers 4 sees it: rope_parameters mean nothing to its classes."""
    bare = {key: value for key, value in config.items() if key != NEW}
    if isinstance(bare.get(TEXT), Mapping):
        bare[TEXT] = {key: value for key, value in bare[TEXT].items() if key != NEW}
    return bare


def _main(standard: Standard) -> Block:
    turning = [block for block in standard.blocks if block.turns]
    if not turning:
        raise NoSuchModel("nothing turns in this model")
    return next((block for block in turning if block.kind == "full_attention"), turning[0])


def _sliding(standard: Standard) -> Held | None:
    both = [block for block in standard.blocks if block.turns]
    found = next((block for block in both if block.kind == "sliding_attention"), None)
    return _held(found) if found is not None and len(both) > 1 else None


def _held(block: Block) -> Held:
    return Held(block.head_dim, block.values, block.origins)


def _raw(config: Mapping[str, Any], model_type: str) -> Source:
    keys = Keys(config)
    name = next((name for name in (NEW, OLD) if isinstance(config.get(name), Mapping)), OLD)
    values = dict(keys.part(name).values)
    origins = {key: f"{name}.{key}" for key in values}
    if values.get("rope_type") is None and values.get("type") is not None:
        values["rope_type"], origins["rope_type"] = values["type"], f"{name}.type"
    nothing = Found(None, DEFAULT)
    around = Source(ARCHITECTURE_OF[model_type], model_type, config, Held(nothing), None, nothing)
    if values.get("rope_theta") is None and (base := around.find(*BASES)).value is not None:
        values["rope_theta"], origins["rope_theta"] = base.value, base.key
    block = Held(_head(around), values, origins)
    return Source(around.architecture, model_type, config, block, None, around.find(*LENGTHS))


def _head(source: Source) -> Found:
    head = source.find("head_dim")
    if head.integer:
        return head
    width, heads = source.find(*WIDTH), source.find(*HEADS)
    if not width.integer or not heads.integer:
        raise StackStops("the file lacks hidden_size or num_attention_heads")
    return Found(width.integer // heads.integer, f"{width.key} / {heads.key}")
