"""What every position encoding is: four hooks, each the identity by default, and what it promises."""

import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import torch
from jaxtyping import Float, Float32, Int, Int64
from torch import Tensor, nn

from gnomon.encodings.heads import sliced
from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.kernels.places import require_int64
from gnomon.kernels.precision import full_precision
from gnomon.kernels.relative_shift.terms import RelativeTerms
from gnomon.registry import Registry

OTHER_NAMES = {
    "rope": "rotary",
    "roformer": "rotary",
    "su": "rotary",
    "sinusoid": "sinusoidal",
    "sincos": "sinusoidal",
    "sine": "sinusoidal",
    "fixed": "sinusoidal",
    "absolute": "learned",
    "embedding": "learned",
    "ape": "learned",
    "none": "nope",
    "relative": "t5",
    "rpe": "t5",
    "linear-bias": "alibi",
    "alibi2d": "alibi_grid",
    "swin": "window_bias",
    "beit": "window_bias",
    "window": "window_bias",
    "cpb": "log_cpb",
    "swinv2": "log_cpb",
    "rope2d": "axial_rotary",
    "rope-mixed": "mixed_rotary",
    "m-rope": "mrope",
    "perceiver": "fourier",
    "sincos2d": "sinusoidal_grid",
    "relative_key": "shaw",
    "xlnet": "transformer_xl",
    "transfo-xl": "transformer_xl",
    "disentangled": "deberta",
}

registry: Registry[type["PositionEncoding"]] = Registry("encoding", package="gnomon.encodings", also=OTHER_NAMES)


class PositionEncoding(nn.Module, ABC):
    """Where order enters a Transformer.

    Attention calls all four hooks and never asks which encoding it has. Shapes: B batch, H heads, S sequence,
    Q query length, K key length, D width of one head, W width of the model. Positions are int64 and are passed in;
    those of an encoding with several `axes` have one number for each of them, (B, S, axes).

    The class attributes are promises: the contract tests hold an encoding to them, the doctor and the advisor read
    them. An instance may narrow a promise (a table sets its own `max_length`, rotary frequencies with an
    attention factor other than 1 take `norm_preserving` back).
    """

    relative: bool = False  #: scores depend on differences of positions only
    learned: bool = False  #: has parameters that training moves
    length_dependent: bool = False  #: one position's numbers depend on how long the sequence is
    norm_preserving: bool = False  #: rotating a vector keeps its length
    causal_only: bool = False  #: right under a causal mask only
    max_length: int | None = None  #: positions 0 .. max_length - 1 exist; None: no limit
    axes: int = 1  #: how many coordinates a position has: 2 on images, 3 in video
    grid: tuple[int, ...] | None = None  #: with several axes, how many coordinates each has; None: no limit
    needs_visible: bool = False  #: content_bias sums over keys, so it must be told which of them are hidden
    uses_position: bool = True  #: False for NoPE alone

    def embed(self, x: Float[Tensor, "B S W"], positions: Int[Tensor, "#B S *axes"]) -> Float[Tensor, "B S W"]:
        """Called once, on the embeddings. (B, S, W), (B, S) -> (B, S, W), in the dtype of x."""
        return x

    def rotate_query(
        self, q: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S *axes"]
    ) -> Float[Tensor, "B H S D"]:
        """Called in each layer on the queries. (B, H, S, D), (B, S) -> (B, H, S, D), in the dtype of q."""
        return q

    def rotate_key(self, k: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S *axes"]) -> Float[Tensor, "B H S D"]:
        """Called in each layer on the keys, before they are cached. Shapes as for `rotate_query`."""
        return k

    def rotate(
        self, q: Float[Tensor, "B H S D"], k: Float[Tensor, "B G S D"], positions: Int[Tensor, "#B S *axes"]
    ) -> tuple[Float[Tensor, "B H S D"], Float[Tensor, "B G S D"]]:
        """`rotate_query` and `rotate_key` in one call, where queries and keys stand at the same positions.

        What an attention layer calls. An encoding overrides it when both together are cheaper than each alone.
        """
        return self.rotate_query(q, positions), self.rotate_key(k, positions)

    def bias(
        self, query_positions: Int[Tensor, "#B Q *axes"], key_positions: Int[Tensor, "#B K *axes"]
    ) -> Float[Tensor, "#B H Q K"] | None:
        """Added to the logits before the softmax. (B, Q), (B, K) -> (B, H, Q, K) float32; None adds nothing."""
        return None

    def content_bias(
        self,
        q: Float[Tensor, "B H Q D"],
        k: Float[Tensor, "B H K D"],
        query_positions: Int[Tensor, "#B Q *axes"],
        key_positions: Int[Tensor, "#B K *axes"],
    ) -> Float[Tensor, "B H Q K"] | None:
        """Added to the logits when they need content and position together; None adds nothing.

        An encoding with `needs_visible` takes a fifth argument: `visible`, (B, 1, Q, K), True where a query may attend
        a key; None says that all keys up to the query are visible under `causal_only`, and all keys otherwise.
        """
        return None

    def by_distance(self, relative: Int64[Tensor, "*S"]) -> Float32[Tensor, "H *S"] | None:
        """What `bias` adds for each head at `relative` = key position - query position; None when it reads more.

        An encoding that gives these numbers runs in memory that grows with the length, not with its square.
        """
        return None

    def relative_terms(
        self, relative: Int64[Tensor, " N"], *, dtype: torch.dtype = torch.float32
    ) -> RelativeTerms | None:
        """All of `content_bias` as vectors of `relative` = key position - query position, and of queries and keys.

        None when it is not of that form. What attention in blocks takes: `gnomon.kernels.relative_shift`.
        """
        return None

    def content_by_distance(
        self, q: Float[Tensor, "B H Q D"], relative: Int64[Tensor, " N"]
    ) -> Float[Tensor, "B H Q N"] | None:
        """The part of `content_bias` that a query and `relative` = key position - query position decide.

        None when it reads more. With `content_by_key`, which is the rest, it is the whole of `content_bias`.
        """
        terms = self.relative_terms(relative, dtype=torch.promote_types(q.dtype, torch.float32))
        with full_precision(q.device):
            return None if terms is None else terms.by_distance(q)

    def content_by_key(self, k: Float[Tensor, "B H K D"]) -> Float[Tensor, "B H K"] | None:
        """The part of `content_bias` that a key alone decides; None when there is none. See `content_by_distance`."""
        nowhere = torch.empty(0, dtype=torch.int64, device=k.device)
        terms = self.relative_terms(nowhere, dtype=torch.promote_types(k.dtype, torch.float32))
        with full_precision(k.device):
            return None if terms is None else terms.by_key(k)

    def regimes(self, lengths: Int[Tensor, "*S"]) -> Int64[Tensor, "*S"]:
        """One number for each length: lengths with the same number have the same rotations. All 0 by default.

        An encoding that is `length_dependent` gives more than one. The length of a query is the last position that it
        may attend, plus 1: under a causal mask its own position, plus 1.
        """
        return torch.zeros_like(lengths, dtype=torch.int64)

    def at_length(self, lengths: int | Int[Tensor, " B"]) -> "PositionEncoding":
        """The encoding with the rotations of one length, or of one for each row of the batch; itself by default."""
        return self

    @property
    def heads_along(self) -> dict[str, int] | None:
        """The parameters with numbers for each head, by name, and the dimension along which heads follow each other.

        {} when the encoding is built for a number of heads that share all its parameters; None, the default, when no
        number of heads is among its options.
        """
        return None

    def for_heads(self, first: int, count: int) -> "PositionEncoding":
        """The encoding of the model's heads first .. first + count - 1: what a rank of tensor parallelism holds.

        Its hooks give what the whole gives for these heads, so formulas count heads as the whole model does. Learned
        numbers are copies: those of these heads alone, and all of those that heads share, whose gradient on one rank
        is a part that is to be summed over ranks (see `gnomon.parallel`). Itself when heads have nothing of their own.
        Raises ShapeError for heads that are not there.
        """
        return sliced(self, first, count)

    @property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The constructor's arguments as plain JSON values: `build(name, **options)` makes an equal encoding."""

    @classmethod
    def sample(cls, num_heads: int, head_dim: int) -> Self:
        """A small instance for a model of this size: what the contract tests, `gnomon list` and `gnomon plot` build."""
        given = {"num_heads": num_heads, "head_dim": head_dim, "dim": num_heads * head_dim, "max_length": 512}
        return cls(**{name: given[name] for name in inspect.signature(cls).parameters if name in given})

    def to_json(self) -> str:
        """Name and options as one JSON object; `from_json` reads it back."""
        return json.dumps({"encoding": name_of(type(self)), **self.options})

    def extra_repr(self) -> str:
        return ", ".join(f"{key}={value!r}" for key, value in self.options.items())


def name_of(cls: type[PositionEncoding]) -> str:
    """The registered name of an encoding class."""
    for name, item in registry:
        if item is cls:
            return name
    raise GnomonError(f"{cls.__name__} is not registered; decorate it with @registry.register(name).")


def build(name: str, **options: Any) -> PositionEncoding:
    """Build an encoding by name. An option it does not have is an error that lists those it has.

    >>> build("alibi", num_heads=8).relative
    True
    """
    cls = registry.get(name)
    check_options(cls, name, options)
    return cls(**options)


def from_json(text: str) -> PositionEncoding:
    """Read what `PositionEncoding.to_json` wrote."""
    fields = json.loads(text)
    if not isinstance(fields, dict) or "encoding" not in fields:
        raise GnomonError(f"An encoding's JSON is an object with the key 'encoding', got {text[:80]!r}.")
    return build(fields.pop("encoding"), **fields)


def check_options(cls: type, name: str, options: Mapping[str, Any]) -> None:
    """Raise one clear error for unknown or missing constructor options of `cls`."""
    parameters = inspect.signature(cls).parameters
    unknown = sorted(set(options) - set(parameters))
    missing = [key for key, p in parameters.items() if p.default is p.empty and key not in options]
    if unknown:
        raise GnomonError(f"{name!r} has no option {', '.join(unknown)}; it takes {', '.join(parameters) or 'none'}.")
    if missing:
        raise GnomonError(f"{name!r} needs {', '.join(missing)}; it takes {', '.join(parameters)}.")


def require_positions(positions: Tensor, *, axes: int = 1) -> None:
    """Raise unless `positions` is int64 (half precision cannot tell ids above 256 apart) and has so many coordinates.

    With one axis any shape will do; with more, the last dimension of `positions` holds the coordinates.
    """
    if not isinstance(positions, Tensor):
        raise PositionError(f"Positions are an int64 tensor, got {type(positions).__name__}; see gnomon.positions.")
    require_int64(positions)
    if axes > 1 and (positions.ndim < 2 or positions.shape[-1] != axes):
        raise ShapeError(
            f"Positions need {axes} coordinates each, (batch, sequence, {axes}), got shape {tuple(positions.shape)}; "
            f"build them with gnomon.positions.grid."
        )
