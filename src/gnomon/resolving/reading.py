"""What one stack makes of one file: plain facts, and for each of them the key that decided it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

from gnomon.resolving.given import Given
from gnomon.resolving.rules.angles import Schedule, Temperature

Layout = Literal["half", "interleaved"]
#: how a rule is known: the stack's code ran here, or its code was read
Sure = Literal["run", "by reading"]
#: the kind of layer where all layers are alike
ALL = "all layers"
#: the two kinds where all layers turn alike but for some that do not turn (SmolLM3, Llama 4)
TURNING, STILL = "layers with rotation", "layers without rotation"
DEFAULT = "default"
#: the key of what the length decides that a server was started for
SERVED = "served"


@final
@dataclass(frozen=True)
class Used:
    """`what` (base, factor, cap ...) has `value` because of `key`: a path in the file, "default" or "served"."""

    what: str
    value: Any
    key: str = DEFAULT


@final
@dataclass(frozen=True)
class Ignored:
    """A key of the file that has no effect in this stack, and why in a few words."""

    key: str
    value: Any
    why: str = "not read"


@final
@dataclass(frozen=True, eq=False)
class LayerReading:
    """How one kind of layer turns queries and keys.

    `rotary_dim` is the rotated width, 0 where nothing turns. `rule` is the stack's kind of scaling in the words of
    transformers ("default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional", "ntk", "none").
    `layout` is that of the arithmetic; `permuted` says what happens to the rows of q and k before it, empty for
    nothing. `softmax` multiplies the usual softmax scale 1/sqrt(head width). `layers`: which layers are of this kind,
    from 0, None where all are or the stack does not say.
    """

    kind: str
    head_dim: int
    rotary_dim: int
    base: float | None
    rule: str
    layout: Layout
    schedule: Schedule
    softmax: float = 1.0
    temperature: Temperature | None = None
    permuted: str = ""
    used: tuple[Used, ...] = ()
    notes: tuple[str, ...] = ()
    layers: tuple[int, ...] | None = None

    def logit_factor(self, length: int, served: int) -> float:
        """What the scores of the columns that turn are multiplied by for the newest token, beside 1/sqrt(head width).

        Those of all columns where none turns.
        """
        magnitude = self.schedule.at(length, served).magnitude if self.rotary_dim else 1.0
        return magnitude * magnitude * self.still_factor(length)

    def still_factor(self, length: int) -> float:
        """What the scores of columns that do not turn are multiplied by: the factor on cos and sin is not in it."""
        return self.softmax * (self.temperature.at(length - 1) if self.temperature else 1.0)


@final
@dataclass(frozen=True, eq=False)
class Reading:
    """One stack, in one of its versions, on one file.

    `refusal`: the stack ends with an error, and which. `absent`: the stack has no such model, or its rule for it was
    not traced. `broken`: gnomon's own reader crashed, and how. With any of them there are no layers.
    `needs`: what has to be set in the environment for a server of the length that was asked for, "" for nothing.
    """

    stack: str
    version: str
    sure: Sure
    layers: tuple[LayerReading, ...] = ()
    cap: int | None = None
    used: tuple[Used, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    notes: tuple[str, ...] = ()
    refusal: str = ""
    absent: str = ""
    broken: str = ""
    needs: str = ""

    @property
    def serves(self) -> bool:
        return not (self.refusal or self.absent or self.broken)

    def layer(self, kind: str) -> LayerReading | None:
        """The reading for a kind of layer; the one for all layers where the stack knows one kind only."""
        named: Mapping[str, LayerReading] = {layer.kind: layer for layer in self.layers}
        return named.get(kind) or named.get(ALL)


@final
@dataclass(frozen=True)
class Wanted:
    """A scaling that the user wants of a stack, in the words of transformers 5: what a remedy is to bring about."""

    model_type: str
    rule: str
    base: float
    cap: int  #: the longest sequence that is to be served
    head_dim: int
    rotary_dim: int
    factor: float | None = None
    original: int | None = None
    block: Mapping[str, Any] | None = None  #: the whole rotary block as transformers 5 writes it


@final
@dataclass(frozen=True)
class Remedy:
    """What to type or to edit, and the file as the stack then sees it: that one is read again before it is told."""

    text: str
    after: Given
