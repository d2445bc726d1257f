"""An encoding around another one: the hooks of the inner one, at positions that the outer one chooses."""

from abc import abstractmethod

from jaxtyping import Float, Int, Int64
from torch import Tensor

from gnomon.encodings.base import PositionEncoding


class AroundInner(PositionEncoding):
    """Each hook is that of `inner`, at `mapped(positions)`."""

    inner: PositionEncoding

    @abstractmethod
    def mapped(self, positions: Int[Tensor, "*B S"]) -> Int64[Tensor, "*B S"]:
        """The positions that the inner encoding is told."""

    def embed(self, x: Float[Tensor, "B S W"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B S W"]:
        return self.inner.embed(x, self.mapped(positions))

    def rotate_query(self, q: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B H S D"]:
        return self.inner.rotate_query(q, self.mapped(positions))

    def rotate_key(self, k: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B H S D"]:
        return self.inner.rotate_key(k, self.mapped(positions))

    def bias(
        self, query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]
    ) -> Float[Tensor, "#B H Q K"] | None:
        return self.inner.bias(self.mapped(query_positions), self.mapped(key_positions))

    def content_bias(
        self,
        q: Float[Tensor, "B H Q D"],
        k: Float[Tensor, "B H K D"],
        query_positions: Int[Tensor, "#B Q"],
        key_positions: Int[Tensor, "#B K"],
        *visible: Tensor | None,
    ) -> Float[Tensor, "#B H Q K"] | None:
        """`visible` is what an inner encoding that `needs_visible` asks for."""
        return self.inner.content_bias(q, k, self.mapped(query_positions), self.mapped(key_positions), *visible)
