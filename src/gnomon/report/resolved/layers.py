"""How one kind of layer turns in one stack, and how far that is from the reference: the small parts of the document."""

import math
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Decided:
    """Provenance: `what` (base, factor, cap, kind ...) has `value` because of `key`.

    `key` is a dotted path in the file as it was given, "default" where the stack's own rule decided, or "served"
    where the length did that the server was started for.
    """

    what: str
    value: Any
    key: str


@dataclass(frozen=True)
class Unread:
    """A key of the file that has no effect in this stack, with its value there and the reason in a few words."""

    key: str
    value: Any
    why: str


@dataclass(frozen=True)
class Frequencies:
    """The inverse frequencies of all rotated pairs, radians per position, and the evaluated lengths at which they hold.

    A stack whose frequencies depend on the length has several of these; no length stands in two of them. A frequency
    that is no number is None.
    """

    lengths: tuple[int, ...]
    inverse: tuple[float | None, ...]


@dataclass(frozen=True)
class Scale:
    """For the newest token of `length` tokens: the factor on cos and sin, and what the logits are multiplied by in all
    (magnitude squared, times the stack's multiplier of the softmax scale, times a temperature that the position sets).
    """

    length: int
    magnitude: float | None
    logits: float | None


@dataclass(frozen=True)
class Layer:
    """How one kind of layer turns queries and keys in one stack.

    `kind`: "all layers", or a name of the config's (full_attention, sliding_attention ...). `rotary_dim`: columns of
    `head_dim` that turn, 0 where nothing does. `base`: None where there is none. `rule`: the kind of scaling in the
    words of transformers. `layout`: that of the arithmetic, half or interleaved. `permuted`: what happens to the rows
    of q and k before it, "" for nothing. `softmax`: multiplies 1/sqrt(head width). `temperature`: the rule by which
    the position scales logits, in words, "" for none. `switch`: what makes the frequencies change, in words, "" for
    nothing. `frequencies` and `scales` cover every length of the resolution. `used`: what decided this layer alone.
    `layers`: which layers are of this kind, from 0; None where all are, or where that is not known.
    """

    kind: str
    head_dim: int
    rotary_dim: int
    base: float | None
    rule: str
    layout: str
    permuted: str = ""
    softmax: float = 1.0
    temperature: str = ""
    switch: str = ""
    frequencies: tuple[Frequencies, ...] = ()
    scales: tuple[Scale, ...] = ()
    used: tuple[Decided, ...] = ()
    notes: tuple[str, ...] = ()
    layers: tuple[int, ...] | None = None

    def inverse_at(self, length: int) -> tuple[float | None, ...]:
        """The inverse frequencies at one of the evaluated lengths; empty where nothing turns."""
        return next((held.inverse for held in self.frequencies if length in held.lengths), ())


class Sized(Protocol):
    """What says how large a difference is: that of `Effect`, and of the resolver's own `Difference`."""

    @property
    def equal(self) -> bool: ...
    @property
    def incomparable(self) -> str: ...
    @property
    def phase(self) -> float | None: ...
    @property
    def logits(self) -> float | None: ...
    @property
    def rest(self) -> float | None: ...


def severity(found: Sized) -> tuple[bool, bool, float, float]:
    """Sorts differences, the worst last: what cannot be compared, then by angle, then by logits."""
    scales = (math.inf if each is None or not math.isfinite(each) else each for each in (found.logits, found.rest))
    return not found.equal, bool(found.incomparable), found.phase or 0.0, max(abs(each - 1) for each in scales)


@dataclass(frozen=True)
class Effect:
    """The difference of one kind of layer from the reference at one length.

    `phase`: radians that the pair `pair` is apart between the newest and the first of `length` tokens (where a stack
    looks at each position on its own: between an older and the first), the largest of all pairs. `relative`: the
    largest relative difference of a frequency, that of the pairs from `relative_pair` to `relative_last`. `logits`: the
    ratio of the scores' scales in the columns that turn, 1 where they agree, None where one is no number; `rest`: that
    in the columns that do not turn, which the factor on cos and sin does not reach, 1 where all turn. `visible_from`:
    the distance in tokens from which the pair `pair` is more than 0.1 rad apart, None for never. `layouts`: the rows of
    q and k and the arithmetic do not fit together. `incomparable`: why there are no numbers, "" where there are.
    `equal`: nothing but rounding is left.
    """

    kind: str
    length: int
    equal: bool
    phase: float | None = 0.0
    pair: int = 0
    relative: float | None = 0.0
    relative_pair: int = 0
    logits: float | None = 1.0
    visible_from: int | None = None
    layouts: bool = False
    incomparable: str = ""
    relative_last: int = 0
    rest: float | None = 1.0
