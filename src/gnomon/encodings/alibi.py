"""Attention with linear biases (ALiBi): Press et al. 2022, arXiv:2108.12409, section 3.

Forms for encoders: issue 5 of the authors' repository, ofirpress/attention_with_linear_biases.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, Literal, final, get_args

import torch
from jaxtyping import Float32, Int, Int64
from torch import Tensor

from gnomon.encodings.base import registry, require_positions
from gnomon.encodings.heads import checked_part, part_options, require_heads_within
from gnomon.encodings.score_bias import DistanceBias, per_head
from gnomon.errors import GnomonError

Form = Literal["symmetric", "causal", "asymmetric"]
#: How far a key after the query is moved towards it in the asymmetric form.
SHIFT: Final = 0.5


@registry.register("alibi")
@final
class ALiBi(DistanceBias):
    """A penalty that grows linearly with distance, with another slope for each head.

    `form`: "symmetric" adds -slope * |i - j| for query i and key j, right under any mask. "causal" adds +slope * j:
    that differs by slope * i, one number for a whole row of logits, which the softmax cancels when no key lies after
    its query (so a causal mask is needed, and is not part of the bias). The causal form is a view of one row in memory.
    Far out use the symmetric form: in float32 the causal bias near position 10^6 is exact to about 0.03 only.
    "asymmetric" is for encoders, which cannot tell left from right by |i - j|: a key after its query counts as half a
    step nearer, -slope * (j - i - 1/2) for j > i. It is the offset variant of issue 5 of the authors' repository, as
    trained in EIFY's fork of fairseq. The other two of that issue are not here: a mask that shows each head one side
    only is for attention to apply, and slopes for each side that are learned are no longer ALiBi's fixed ones.

    Slopes for a power of two H are 2^(-8 h / H), h = 1 .. H. Otherwise they are those of the next smaller power c, and
    then every other slope of 2 c, so they are not sorted. `alibi_bias_max` is that 8, as in MPT: the last slope of a
    power of two is 2^-alibi_bias_max. `logit_scale` multiplies all of them: Falcon adds its bias before the logits are
    divided by sqrt(head_dim), which is 1 / sqrt(head_dim) here. They are kept in float32 whatever the model's dtype.
    `part_of`, (first, total): the heads are some of a model with `total`, from number `first` on, and have its slopes,
    which are not those of a model with `num_heads`; `for_heads` sets it.

    `score_mod` has the numbers of the causal form as +slope * (j - i), exact at any position.

    >>> ALiBi(num_heads=2).bias(torch.tensor([[3]]), torch.tensor([[1, 3, 4]]))
    tensor([[[[-0.1250, -0.0000, -0.0625]],
    <BLANKLINE>
             [[-0.0078, -0.0000, -0.0039]]]])
    """

    def __init__(
        self,
        num_heads: int,
        *,
        form: Form = "symmetric",
        alibi_bias_max: float = 8.0,
        logit_scale: float = 1.0,
        part_of: Sequence[int] | None = None,
    ) -> None:
        super().__init__(num_heads)
        if form not in get_args(Form):
            raise GnomonError(f"The form of ALiBi is one of {', '.join(get_args(Form))}, got {form!r}.")
        if not 0 < alibi_bias_max < math.inf:
            raise GnomonError(f"ALiBi needs a finite alibi_bias_max above 0, got {alibi_bias_max}.")
        if not 0 < logit_scale < math.inf:
            raise GnomonError(f"ALiBi needs a finite logit_scale above 0, got {logit_scale}.")
        self.form: Form = form
        self.alibi_bias_max = float(alibi_bias_max)
        self.logit_scale = float(logit_scale)
        self.causal_only: bool = form == "causal"
        self.first_head, self.total_heads = checked_part(part_of, num_heads)

    @property
    def slopes(self) -> tuple[float, ...]:
        """One slope for each head, in the published order."""
        whole = linear_slopes(self.total_heads, self.alibi_bias_max)
        own = whole[self.first_head : self.first_head + self.num_heads]
        return tuple(self.logit_scale * slope for slope in own)

    def for_heads(self, first: int, count: int) -> "ALiBi":
        require_heads_within(first, count, self.num_heads)
        part_of = (self.first_head + first, self.total_heads)
        return ALiBi(**{**self.options, "num_heads": count, "part_of": part_of})

    def flash_slopes(self, device: torch.device | str | None = None) -> Float32[Tensor, " H"]:
        """The slopes as FlashAttention takes them: `flash_attn_func(q, k, v, alibi_slopes=encoding.flash_slopes())`.

        FlashAttention adds -slope * |i + K - Q - j| for query i of Q and key j of K, counted in slots. That is this
        bias where the ids of a row count up by one and the queries are the last of the keys: plain, behind a cache, or
        padded on the left. Packed documents need its varlen functions, and ids with gaps `score_mod`. Raises
        GnomonError for the asymmetric form, which FlashAttention lacks.
        """
        if self.form == "asymmetric":
            raise GnomonError("FlashAttention has no asymmetric ALiBi; use score_mod with FlexAttention.")
        return torch.tensor(self.slopes, dtype=torch.float32, device=device)

    def by_distance(self, relative: Int64[Tensor, "*S"]) -> Float32[Tensor, "H *S"]:
        slopes = per_head(torch.tensor(self.slopes, dtype=torch.float32, device=relative.device), relative)
        if self.form == "causal":
            return slopes * relative
        distance = relative.abs()
        return -slopes * (distance - SHIFT * (relative > 0) if self.form == "asymmetric" else distance)

    def bias(
        self, query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]
    ) -> Float32[Tensor, "#B H Q K"]:
        if self.form != "causal":
            return super().bias(query_positions, key_positions)
        require_positions(query_positions)
        require_positions(key_positions)
        rows = torch.broadcast_shapes(query_positions.shape[:1], key_positions.shape[:1])[0]
        row = self.by_distance(key_positions).transpose(0, 1)[:, :, None, :]
        return row.expand(rows, -1, query_positions.shape[1], -1)

    @property
    def options(self) -> dict[str, Any]:
        return {
            "num_heads": self.num_heads,
            "form": self.form,
            "alibi_bias_max": self.alibi_bias_max,
            "logit_scale": self.logit_scale,
            **part_options(self.first_head, self.num_heads, self.total_heads),
        }


def linear_slopes(num_heads: int, alibi_bias_max: float = 8.0) -> tuple[float, ...]:
    """One slope for each head, in the published order; see `ALiBi`.

    >>> linear_slopes(3)
    (0.0625, 0.00390625, 0.25)
    """
    power = 1 << (num_heads.bit_length() - 1)
    doubled = [2.0 ** (-alibi_bias_max / 2 * h / power) for h in range(1, 2 * power + 1)]
    return tuple((doubled[1::2] + doubled[0::2])[:num_heads])


def reference(
    head: int,
    query_position: int,
    key_position: int,
    num_heads: int,
    *,
    form: str = "symmetric",
    alibi_bias_max: float = 8.0,
    logit_scale: float = 1.0,
) -> float:
    """Section 3, with heads counted from 0: minus the slope of the head times the distance.

    Asymmetric: the matrix in the README of EIFY/fairseq; the row of a query reads -2 -1 0 -.5 -1.5, left to right.
    """
    distance = float(abs(query_position - key_position))
    if form == "asymmetric" and key_position > query_position:
        distance -= 0.5
    return -reference_slope(head, num_heads, alibi_bias_max) * distance * logit_scale


def reference_slope(head: int, num_heads: int, alibi_bias_max: float = 8.0) -> float:
    """A geometric sequence from 2^(-8/n) with that ratio; footnote 3's rule when n is not a power of two."""
    closest = 1
    while closest * 2 <= num_heads:
        closest *= 2
    if head < closest:
        return math.pow(math.pow(2.0, -alibi_bias_max / closest), head + 1)
    return math.pow(math.pow(2.0, -alibi_bias_max / (2 * closest)), 2 * (head - closest) + 1)
