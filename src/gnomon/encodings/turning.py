"""What rotary encodings share that turn queries and keys by the same angles."""

from abc import abstractmethod
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from gnomon.encodings.base import PositionEncoding


class TurnsBoth(PositionEncoding):
    """Queries and keys turn by the same angles, so that one call turns both."""

    @abstractmethod
    def _rotate(
        self, q: Float[Tensor, "B H S D"], k: Float[Tensor, "B G S D"] | None, positions: Int[Tensor, "#B S *axes"]
    ) -> Any:
        """What `apply_rotary` gives for q, or for both."""

    def rotate_query(
        self, q: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S *axes"]
    ) -> Float[Tensor, "B H S D"]:
        turned: Tensor = self._rotate(q, None, positions)
        return turned

    def rotate_key(self, k: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S *axes"]) -> Float[Tensor, "B H S D"]:
        turned: Tensor = self._rotate(k, None, positions)
        return turned

    def rotate(
        self, q: Float[Tensor, "B H S D"], k: Float[Tensor, "B G S D"], positions: Int[Tensor, "#B S *axes"]
    ) -> tuple[Float[Tensor, "B H S D"], Float[Tensor, "B G S D"]]:
        pair: tuple[Tensor, Tensor] = self._rotate(q, k, positions)
        return pair
