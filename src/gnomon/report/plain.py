"""Results as JSON values: plain data, in which a number that is not finite is null."""

import json
import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """The value as JSON can hold it; dataclasses by their fields, other objects by their text.

    >>> plain({"factors": (1.5, float("inf")), 2: None})
    {'factors': [1.5, None], '2': None}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [plain(held) for held in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "__dataclass_fields__"):
        return fields(value)
    return value if value is None or isinstance(value, str | int) else str(value)


def fields(item: Any) -> dict[str, Any]:
    """The fields of a dataclass as JSON values, in the order they are declared."""
    return {name: plain(value) for name, value in vars(item).items()}


def as_json(value: Any) -> str:
    """The value as indented JSON.

    >>> as_json({"loss": float("nan")})
    '{\\n  "loss": null\\n}'
    """
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)
