"""The axes along which stacks differ, each choice with a name: a stack is a row of these and a reader of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar, final

from gnomon.errors import GnomonError
from gnomon.resolving.stopping import StackStops

Build = TypeVar("Build")
Source = Literal["transformers 5", "transformers 4"]


@final
@dataclass(frozen=True)
class Choices:
    """One stack in one version. None: the stack has no such rule, or one of its own that its reader holds.

    Every choice that is not None is read: a test puts each other value in its place and sees a reading change.

    `source`: the transformers whose classes hand the config over; None for the file as it stands.
    `kind_key`: which of `rope_type` and `type` wins where both stand in a block, or that this is an error.
    `yarn_factor`: the file's `factor`, or the longest length over the original one whenever that is given.
    `yarn_ramp`: the length in which turns are counted. `yarn_ends`: `truncate` obeyed, or the ends of the ramp always
    or never rounded. `yarn_magnitude`: see `yarn.yarn_magnitude`; "own" beside versions that go by a common rule.
    `dynamic`: base by the length of each forward; constant from factor alone; from the served length; by the prompt; or
    by `alpha` alone.
    `longrope_switch`: see `angles.SwitchBy`. `longrope_ratio`: what the attention factor grows with.
    `unknown`: what a kind of scaling that the stack does not know leads to: an error, or plain frequencies, silently.
    """

    source: Source | None = None
    kind_key: Literal["rope_type", "type", "error"] | None = None
    yarn_factor: Literal["factor", "ratio"] | None = None
    yarn_ramp: Literal["original", "maximum", "served"] | None = None
    yarn_ends: Literal["truncate", "rounded", "exact"] | None = None
    yarn_magnitude: Literal["transformers", "not null", "ratio", "factor", "own"] | None = None
    dynamic: Literal["sequence", "constant", "served", "prompt", "alpha"] | None = None
    longrope_switch: Literal["sequence", "served", "position", "always"] | None = None
    longrope_ratio: Literal["factor or lengths", "lengths", "whole lengths"] | None = None
    unknown: Literal["error", "plain"] | None = None

    @property
    def kind_names(self) -> tuple[str, str]:
        """`rope_type` and `type`, the one that wins first."""
        return ("type", "rope_type") if self.kind_key == "type" else ("rope_type", "type")


def chosen(choice: Build | None, name: str) -> Build:
    """A choice that a rule needs; raises GnomonError, a fault of the stack's row, where the stack has none."""
    if choice is None:
        raise GnomonError(f"A reader asks for {name}, which the choices of its stack leave out; name it there.")
    return choice


def unknown(choices: Choices, words: str) -> None:
    """What comes of a kind of scaling that the stack does not know: raises StackStops, unless it is passed over."""
    if chosen(choices.unknown, "unknown") == "error":
        raise StackStops(words)


def known(kinds: Mapping[str, tuple[str, Build]], kind: object, choices: Choices, words: str = "") -> tuple[str, Build]:
    """The rule of a kind; for one that is not among them what `unknown` does, and then that of "default"."""
    if not isinstance(kind, str) or kind not in kinds:
        unknown(choices, words)
        kind = "default"
    return kinds[str(kind)]
