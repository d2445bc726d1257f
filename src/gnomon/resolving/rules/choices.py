"""The axes along which stacks differ, each choice with a name: a stack is a row of these and a reader of its own."""

from dataclasses import dataclass
from typing import Literal, final


@final
@dataclass(frozen=True)
class Choices:
    """One stack in one version.

    `source`: where the config comes from: transformers' classes of version 5 or 4, or the raw file.
    `kind_key`: which of `rope_type` and `type` wins where both stand there and differ.
    `yarn_factor`: the file's `factor`, or the longest length over the original one whenever that is given.
    `yarn_ramp`: the length in which turns are counted. `yarn_ends`: `truncate` obeyed, or the ends of the ramp always
    or never rounded. `yarn_magnitude`: see `scaling.yarn_magnitude`.
    `dynamic`: base by the length of each forward; constant from factor alone; from the served length; by the prompt;
    nothing, silently; an error; or `alpha` alone.
    `longrope_switch`: see `angles.SwitchBy`. `longrope_ratio`: what the attention factor grows with.
    `unknown`: what a kind of scaling that the stack does not know leads to.
    `scaling`: whether rotary blocks are read at all; where they are passed over, only `source` means anything.
    """

    source: Literal["transformers 5", "transformers 4", "raw"]
    kind_key: Literal["rope_type", "type", "error"]
    yarn_factor: Literal["factor", "ratio"] = "factor"
    yarn_ramp: Literal["original", "maximum", "served"] = "original"
    yarn_ends: Literal["truncate", "rounded", "exact"] = "truncate"
    yarn_magnitude: Literal["transformers", "not null", "ratio", "factor", "own"] = "transformers"
    dynamic: Literal["sequence", "constant", "served", "prompt", "plain", "error", "alpha"] = "sequence"
    longrope_switch: Literal["sequence", "served", "position", "always"] = "sequence"
    longrope_ratio: Literal["factor or lengths", "lengths", "served", "whole lengths", "none"] = "factor or lengths"
    unknown: Literal["error", "plain"] = "error"
    scaling: Literal["read", "passed over"] = "read"
