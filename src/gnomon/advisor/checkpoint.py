"""Reads a checkpoint, or the name of a model family, into what the advisor knows of it. Nothing is run."""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.advisor.buildable import require_buildable
from gnomon.advisor.description import Checkpoint
from gnomon.advisor.sizes import ModelSizes
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.report.document import FoundEncoding

LENGTH_KEYS = ("stated_length", "max_length", "rows")  #: of what `gnomon inspect` finds, the first that is there
WIDTH_KEYS, LAYER_KEYS = ("hidden_size", "d_model", "n_embd"), ("num_hidden_layers", "num_layers", "n_layer")
HEAD_KEYS = ("num_attention_heads", "n_head", "encoder_attention_heads", "n_heads", "num_heads")
#: where configs state a length that does not follow from their encoding
STATED_KEYS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length")
#: keys of models whose layers keep less than every key and value
SMALL_CACHE = ("kv_lora_rank", "sliding_window", "attention_chunk_size", "hybrid_override_pattern")
SIZES = ("num_heads", "head_dim")
IMAGES = ("vit", "vit_msn", "deit", "dinov2", "dinov3_vit", "beit", "swin", "swinv2")  #: model types of pictures
LATER = ("sliding", "nope", "vision", "cross")  #: places and kinds that are not what a model's length hangs on


def read_checkpoint(target: str | Path) -> Checkpoint:
    """What a Hugging Face folder, config.json or .gguf file says; raises GnomonError when it shows no known
    encoding.
    """
    from gnomon.adapters import load_subject
    from gnomon.adapters.subject import MissingEvidence
    from gnomon.doctor import inspect as examine

    found = _main(examine(target, forward=False).encodings, str(target))
    subject = load_subject(target, forward=False)
    try:
        config: Mapping[str, Any] = subject.config
    except MissingEvidence:
        config = {}
    return _checkpoint(found, config, str(target))


def family(name: str) -> Checkpoint:
    """What the field knows of a model type: its encoding, without sizes; raises GnomonError for one that is unknown."""
    from gnomon.adapters.families import BY_MODEL_TYPE, claims_of
    from gnomon.adapters.subject import MissingEvidence
    from gnomon.registry import Registry
    from gnomon.report.document import FoundEncoding

    known: Registry[Any] = Registry("model family", package=None)
    for known_name in BY_MODEL_TYPE:
        known.register(known_name)(known_name)
    known.get(name)
    try:
        claims = claims_of({"model_type": name})
    except (MissingEvidence, GnomonError) as error:
        raise GnomonError(
            f"The family {name!r} alone does not tell the encoding ({error}); give --checkpoint."
        ) from None
    found = _main([FoundEncoding(it.kind, it.where, it.options, "config") for it in claims], f"the family {name}")
    return _checkpoint(found, {"model_type": name}, name)


def _main(encodings: "Sequence[FoundEncoding]", target: str) -> "FoundEncoding":
    """The encoding that a model's length hangs on: that of its layers of full attention, where they differ."""
    from gnomon.encodings import registry

    if not encodings:
        raise GnomonError(f"No position encoding was found in {target}; advice on a checkpoint needs one.")
    found = min(encodings, key=lambda it: any(word in f"{it.where} {it.kind}" for word in LATER))
    if found.kind not in registry:
        raise GnomonError(f"{target} has {found.kind}, which gnomon does not build, so it cannot advise on it.")
    return found


def _checkpoint(found: "FoundEncoding", config: Mapping[str, Any], target: str) -> Checkpoint:
    from gnomon.encodings import registry

    taken = inspect.signature(registry.get(found.kind)).parameters
    options = {key: value for key, value in found.options.items() if key in taken and value is not None}
    require_buildable(found.kind, options, target)
    length = next((found.options[key] for key in LENGTH_KEYS if isinstance(found.options.get(key), int)), None)
    sizes = {key: found.options[key] for key in SIZES if isinstance(found.options.get(key), int)}
    if "sections" in options:
        sizes.setdefault("head_dim", 2 * sum(options["sections"]))
    heads = _first(config, HEAD_KEYS)
    if heads is not None:
        sizes.setdefault("num_heads", heads)
    architecture = _architecture(config)
    return Checkpoint(
        target,
        found.kind,
        options,
        trained=_reach(_first(config, STATED_KEYS) if length is None else length, options.get("frequencies")),
        causal={"encoder": False, "decoder": True}.get(architecture or ""),
        sizes=ModelSizes(
            dim=_first(config, WIDTH_KEYS) or found.options.get("dim"),
            num_layers=None if any(config.get(key) is not None for key in SMALL_CACHE) else _first(config, LAYER_KEYS),
            key_heads=found.options.get("num_key_heads"),
            **sizes,
        ),
        axes=2 if config.get("model_type") in IMAGES else 1,
        both=architecture == "encoder-decoder",
    )


def _reach(stated: int | None, frequencies: Mapping[str, Any] | None) -> int | None:
    """The stated length; or that which a scaling gives, where the config still states the length before it."""
    if not frequencies or not {"factor", "original_max_length"} <= set(frequencies):
        return stated
    return max(stated or 0, int(frequencies["factor"] * frequencies["original_max_length"]))


def _architecture(config: Mapping[str, Any]) -> str | None:
    """Encoder, decoder, or encoder-decoder; None for a family that is not known."""
    from gnomon.adapters.families import family_of
    from gnomon.adapters.subject import MissingEvidence

    try:
        return family_of(config).architecture
    except MissingEvidence:
        return None


def _first(config: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """A size under one of its names, at the top of a config or in its text part."""
    inner = config.get("text_config")
    places = (config, inner) if isinstance(inner, Mapping) else (config,)
    for size in (place.get(name) for place in places for name in names):
        if isinstance(size, int) and not isinstance(size, bool):
            return int(size)
    return None
