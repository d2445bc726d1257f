"""What methods share: which rules one goes on from, and the block of the rule that is there with another factor."""

from collections.abc import Mapping
from typing import Any

from gnomon.errors import GnomonError
from gnomon.extending.rotary.held import NAMES, Held


def require_rule(held: Held, method: str, *allowed: str) -> None:
    """Raises GnomonError where another rule is there than the method goes on from."""
    if held.rule in allowed:
        return
    where = f" in {held.kind} layers" if held.kind else ""
    advice = "use --method auto, which goes on with it" if held.rule in NAMES else "take an unscaled checkpoint"
    raise GnomonError(
        f"The checkpoint is scaled already{where} ({held.name}), and {method} on top would be neither of the two; "
        f"{advice}."
    )


def kept(held: Held) -> dict[str, Any]:
    """The keys of the block that belong to the model and not to a rule: fractions, sections, other programs' keys.

    >>> kept(Held(None, "default", 1e4, 64, {"factor": 8.0, "mrope_section": [8, 12, 12]}))
    {'mrope_section': [8, 12, 12]}
    """
    of_rules = {key for keys in NAMES.values() for key in keys}  # also those that a plain block has and nobody reads
    return {key: value for key, value in held.values.items() if key not in of_rules}


def with_factor(values: Mapping[str, Any], factor: float, **more: Any) -> dict[str, Any]:
    """The values with another factor in its place, and more keys behind."""
    return {**values, "factor": float(factor), **more}
