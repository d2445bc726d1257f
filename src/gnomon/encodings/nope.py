"""No position encoding at all: Haviv et al. 2022, arXiv:2203.16634; Kazemnejad et al. 2023, arXiv:2305.19466."""

from typing import Any, final

from gnomon.encodings.base import PositionEncoding, registry


@registry.register("nope")
@final
class NoPE(PositionEncoding):
    """Every hook is the identity. A causal model can still learn order from its mask; a bidirectional one cannot.

    >>> NoPE().to_json()
    '{"encoding": "nope"}'
    """

    relative: bool = True
    norm_preserving: bool = True
    uses_position: bool = False

    def __init__(self) -> None:
        super().__init__()

    @property
    def options(self) -> dict[str, Any]:
        return {}


def reference(vector: list[float]) -> list[float]:
    """What any of the hooks makes of one vector: the vector."""
    return list(vector)
