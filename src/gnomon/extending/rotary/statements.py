"""A config may state its rotation in several places; which of two statements is true only its maker knows."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gnomon.adapters.families.config_reader import ConfigReader
from gnomon.adapters.families.rope_parameters import KINDS
from gnomon.adapters.families.rotary_rule import Rotation
from gnomon.errors import GnomonError
from gnomon.extending.rotary.held import NAMES, ORIGINAL, number

BLOCKS: Final = ("rope_scaling", "rope_parameters")
ALIASES: Final = {"su": "longrope", "mrope": "default"}
#: what readers take for a key that a block leaves out
DEFAULTS: Final = {"beta_fast": 32, "beta_slow": 1, "truncate": True}
COUNTED: Final = ("yarn", "longrope", "llama3")  #: rules that count from an original length
SHOWN: Final = 40  #: characters of a value


def require_one_statement(reader: ConfigReader, rotation: Rotation) -> None:
    """Raises GnomonError where the two blocks, or a base in a block and one beside it, contradict each other."""
    blocks = {name: block for name in BLOCKS if (block := _of_full_attention(reader.mapping(name)))}
    if len(blocks) == 2:
        scaling, parameters = blocks.values()
        _require_same_block(scaling, parameters, reader.config)
    for name in BLOCKS:
        for where, base, keys in _bases(name, reader.mapping(name), rotation):
            for key in keys:
                flat = number(reader.config.get(key))
                if flat is not None and not math.isclose(flat, base, rel_tol=1e-9):
                    raise GnomonError(
                        f"The config states two bases: {key} {flat:g} beside {where} with rope_theta {base:g}, and "
                        "readers differ in which they take; keep the one that the weights were trained with."
                    )


def _of_full_attention(block: Mapping[str, Any]) -> Mapping[str, Any]:
    found = block.get("full_attention", block)
    return found if isinstance(found, Mapping) else {}


def _require_same_block(scaling: Mapping[str, Any], parameters: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """A key that one block leaves out is what readers take for it; a base counts where both state one."""
    ours, theirs = _rule(scaling), _rule(parameters)
    if (ours, scaling.get("factor")) != (theirs, parameters.get("factor")):
        raise _twice(f"{ours} by {scaling.get('factor')}", f"{theirs} by {parameters.get('factor')}")
    beside = config.get(ORIGINAL, config.get("max_position_embeddings"))
    defaults = {**DEFAULTS, **({ORIGINAL: beside} if ours in COUNTED else {})}
    keys = NAMES.get(str(ours), ()) + ((ORIGINAL,) if ours in COUNTED else ())
    for key in keys:
        one, other = (_or(block.get(key), defaults.get(key)) for block in (scaling, parameters))
        if one != other:
            raise _twice(f"with {key} {_shown(one)}", f"with {key} {_shown(other)}")
    bases = [number(block.get("rope_theta")) for block in (scaling, parameters)]
    if None not in bases and bases[0] != bases[1]:
        raise _twice(f"with rope_theta {bases[0]:g}", f"with rope_theta {bases[1]:g}")


def _rule(block: Mapping[str, Any]) -> Any:
    kind = block.get("rope_type") or block.get("type") or "default"
    return ALIASES.get(str(kind), kind)


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _twice(ours: str, theirs: str) -> GnomonError:
    return GnomonError(
        f"The config states its scaling twice, and differently: rope_scaling {ours}, rope_parameters {theirs}; "
        "keep the one that the weights were trained with."
    )


def _shown(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _bases(name: str, block: Mapping[str, Any], rotation: Rotation) -> Iterator[tuple[str, float, tuple[str, ...]]]:
    """Each base in a block: where it stands, and the keys that stand for the same beside the block."""
    if (base := number(block.get("rope_theta"))) is not None:
        yield name, base, rotation.base.base_keys
    for kind, inner in block.items():
        base = number(inner.get("rope_theta")) if kind in KINDS and isinstance(inner, Mapping) else None
        if base is not None:
            yield f"{name}.{kind}", base, rotation.kinds.get(kind, rotation.base).base_keys
