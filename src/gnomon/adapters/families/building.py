"""The encoding that a claim describes."""

import inspect
from collections.abc import Mapping
from typing import Any, Final

from gnomon.adapters.claims import Claim
from gnomon.encodings.base import PositionEncoding, registry
from gnomon.errors import GnomonError

#: options that tell a reader about the model and do not change an encoding that lacks them
SHOWN: Final = frozenset(
    {
        *("num_heads", "num_key_heads", "stated_length", "rows", "max_length", "file_layout"),
        *("direction", "two_way_data"),  # XLNet: who may attend whom, which masks decide here
    }
)


def encoding_of(claim: Claim) -> PositionEncoding:
    """Build what a claim describes; raises GnomonError for what the config leaves out or gnomon does not build."""
    cls = _class_of(claim)
    if cls is None:
        raise GnomonError(f"The config has {claim.kind} in {claim.where}, which gnomon does not build.")
    parameters = inspect.signature(cls).parameters
    unknown = sorted(set(claim.options) - set(parameters) - SHOWN)
    if unknown:
        raise GnomonError(f"The {claim.kind} of {claim.where} has {', '.join(unknown)}, which gnomon does not build.")
    missing = [name for name, p in parameters.items() if p.default is p.empty and name not in claim.options]
    if missing:
        raise GnomonError(f"The config does not say what {', '.join(missing)} of its {claim.kind} encoding is.")
    return _built(cls, claim, {name: value for name, value in claim.options.items() if name in parameters})


def same_encoding(one: Claim, other: Claim) -> bool:
    """Whether two claims describe the same numbers, wherever they hold."""
    return one.kind == other.kind and _telling(one) == _telling(other)


def _class_of(claim: Claim) -> type[PositionEncoding] | None:
    return registry.get(claim.kind) if claim.kind in registry else None


def _telling(claim: Claim) -> dict[str, Any]:
    cls = _class_of(claim)
    names = set(inspect.signature(cls).parameters) if cls else set(claim.options)
    return {name: value for name, value in claim.options.items() if name in names}


def _built(cls: type[PositionEncoding], claim: Claim, options: Mapping[str, Any]) -> PositionEncoding:
    try:
        return cls(**options)
    except GnomonError:
        raise
    except (TypeError, ValueError, OverflowError) as error:  # a config may hold anything
        raise GnomonError(f"The {claim.kind} encoding of {claim.where} cannot be built: {error}") from None
