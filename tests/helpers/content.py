"""What the tests of encodings with a content bias share: their formulas, wrong ones, and the slopes of a formula."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from gnomon.encodings import CoPE, DeBERTa, PositionEncoding, Shaw, TransformerXL, cope, deberta, shaw, transformer_xl
from gnomon.kernels.relative_shift import RelativeTerms
from tests.helpers.mutated_encodings import Wrapped

Rows = list[list[float]]
#: Head, queries, keys, positions of both -> what is added to each logit
Formula = Callable[[int, Rows, Rows, list[int], list[int]], Rows]


def content_formula(encoding: PositionEncoding) -> Formula:
    """The reference of a content encoding, with the numbers that it holds when it is asked."""
    makers: dict[type, Callable[..., Formula]] = {
        Shaw: _shaw,
        CoPE: _cope,
        DeBERTa: _deberta,
        TransformerXL: _transformer_xl,
    }
    return makers[type(encoding)](encoding)


def _pairwise(logit: Callable[[int, list[float], list[float], int], float]) -> Formula:
    """From a formula of head, q, k and query position - key position."""

    def rows(head: int, q: Rows, k: Rows, queries: list[int], keys: list[int]) -> Rows:
        return [
            [logit(head, a, b, i - j) for b, j in zip(k, keys, strict=True)] for a, i in zip(q, queries, strict=True)
        ]

    return rows


def _shaw(encoding: Shaw) -> Formula:
    def logit(head: int, q: list[float], k: list[float], distance: int) -> float:
        table = (encoding.weight if encoding.shared_heads else encoding.weight[head]).tolist()
        return shaw.reference(q, -distance, table=table, left=encoding.max_distance[0])

    return _pairwise(logit)


def _cope(encoding: CoPE) -> Formula:
    def rows(head: int, q: Rows, k: Rows, queries: list[int], keys: list[int]) -> Rows:
        table, scale, gate_scale = encoding.weight.tolist(), encoding.scale, encoding.gate_scale
        return [
            cope.reference(a, k, i, keys, table=table, scale=scale, gate_scale=gate_scale)
            for a, i in zip(q, queries, strict=True)
        ]

    return rows


def _deberta(encoding: DeBERTa) -> Formula:
    def part(head: int, linear: torch.nn.Linear | None) -> tuple[Rows, list[float]] | None:
        rows = slice(head * encoding.head_dim, (head + 1) * encoding.head_dim)
        return None if linear is None else (linear.weight[rows].tolist(), linear.bias[rows].tolist())

    def logit(head: int, q: list[float], k: list[float], distance: int) -> float:
        row = deberta.reference_row(distance, max_distance=encoding.max_distance, buckets=encoding.buckets)
        # The norm is torch's own module: nothing of the encoding.
        weight = encoding.weight.detach().double()
        table = weight if encoding.norm is None else encoding.norm.double()(weight)
        key, query = part(head, encoding.position_key), part(head, encoding.position_query)
        return deberta.reference(q, k, row, table=table.tolist(), key=key, query=query)

    return _pairwise(logit)


def _transformer_xl(encoding: TransformerXL) -> Formula:
    def logit(head: int, q: list[float], k: list[float], distance: int) -> float:
        rows = slice(head * encoding.head_dim, (head + 1) * encoding.head_dim)
        return transformer_xl.reference(
            q,
            k,
            distance,
            u=encoding.content_bias_vector[head].tolist(),
            v=encoding.position_bias_vector[head].tolist(),
            weight=encoding.projection.weight[rows].tolist(),
            base=encoding.sinusoid.base,
            clamp_length=encoding.clamp_length,
        )

    return _pairwise(logit)


def slopes(parameter: Tensor, total: Callable[[], float], indices: list[int], step: float = 1e-6) -> list[float]:
    """How a total that reads the parameter changes with some of its numbers, by central differences."""
    held, found = parameter.data.view(-1), []
    for index in indices:
        middle, ends = held[index].item(), []
        for moved in (middle + step, middle - step):
            held[index] = moved
            ends.append(total())
        held[index] = middle
        found.append((ends[0] - ends[1]) / (2 * step))
    return found


class ContentMutation(Wrapped):
    """Passes the content bias through `changed`."""

    def content_bias(
        self, q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor, *visible: Tensor | None
    ) -> Tensor | None:
        bias = super().content_bias(q, k, query_positions, key_positions, *visible)
        return None if bias is None else self.changed(bias)

    def changed(self, bias: Tensor) -> Tensor:
        return bias


class ContentUnscaled(ContentMutation):
    """Forgets that the bias is added after the scale."""

    def changed(self, bias: Tensor) -> Tensor:
        return bias * math.sqrt(self.inner.options["head_dim"])


class ContentNegated(ContentMutation):
    def changed(self, bias: Tensor) -> Tensor:
        return -bias


class ContentOfNeighbour(ContentMutation):
    """Each key gets what the next slot should get."""

    def changed(self, bias: Tensor) -> Tensor:
        return bias.roll(1, dims=-1)


class DistancesFromKeys(Wrapped):
    """key position - query position instead of the other way round."""

    def ids(self, positions: Tensor) -> Tensor:
        return -positions


class KeysForQueries(Wrapped):
    def content_bias(
        self, q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor, *visible: Tensor | None
    ) -> Tensor | None:
        return self.inner.content_bias(k[:, :, : q.shape[2]], q, query_positions, key_positions, *visible)


class KeyForgotten(Wrapped):
    """The parts leave out what a key alone decides."""

    def content_by_distance(self, q: Tensor, relative: Tensor) -> Tensor | None:
        return self.inner.content_by_distance(q, relative)


class DistancesOfParts(Wrapped):
    """The parts take query position - key position, `content_bias` the other way round."""

    def relative_terms(self, relative: Tensor, *, dtype: torch.dtype = torch.float32) -> RelativeTerms | None:
        return self.inner.relative_terms(-relative, dtype=dtype)


class KeyWithoutDistance(Wrapped):
    """Gives one part and not the other."""

    def content_by_key(self, k: Tensor) -> Tensor | None:
        return self.inner.content_by_key(k)


class BiasBesideParts(Wrapped):
    """Adds a bias too, which those who take the parts do not ask for."""

    def relative_terms(self, relative: Tensor, *, dtype: torch.dtype = torch.float32) -> RelativeTerms | None:
        return self.inner.relative_terms(relative, dtype=dtype)

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return (key_positions[:, None, :] - query_positions[:, :, None]).float()[:, None]


class PartsInModuleDtype(Wrapped):
    """The parts are rounded to half precision on the way."""

    def content_by_distance(self, q: Tensor, relative: Tensor) -> Tensor | None:
        by_distance = self.inner.content_by_distance(q, relative)
        return None if by_distance is None else by_distance.bfloat16().to(by_distance.dtype)

    def content_by_key(self, k: Tensor) -> Tensor | None:
        return self.inner.content_by_key(k)
