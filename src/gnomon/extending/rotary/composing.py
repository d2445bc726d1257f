"""From what is there to what shall be: the method applied to each kind of layer that needs it."""

from dataclasses import dataclass
from typing import final

from gnomon.errors import GnomonError
from gnomon.extending.rotary.choosing import LENGTHS_ONLY, chosen
from gnomon.extending.rotary.held import Held, Lengths, Scaled, computing
from gnomon.extending.rotary.methods import METHODS
from gnomon.extending.rotary.methods.longrope import Lists, longrope
from gnomon.extending.rotary.methods.yarn import REACH
from gnomon.extending.rotary.reading import RotaryConfig


@final
@dataclass(frozen=True)
class Composed:
    """Each kind of layer with what shall turn it; None where it stays. `positions` is the new stated length."""

    layers: tuple[tuple[Held, Scaled | None], ...]
    lengths: Lengths
    method: str
    words: tuple[str, ...]
    drawbacks: tuple[str, ...]

    @property
    def positions(self) -> int:
        return next((scaled.positions for _, scaled in self.layers if scaled is not None), self.lengths.to)

    @property
    def scaled(self) -> bool:
        """Whether any frequency changes; else only stated lengths do."""
        return any(scaled is not None for _, scaled in self.layers)


def composed(rotary: RotaryConfig, lengths: Lengths, method: str = "auto", lists: Lists | None = None) -> Composed:
    """The method over all kinds of layers; raises GnomonError where it cannot go on from what is there."""
    layers: list[tuple[Held, Scaled | None]] = []
    words: list[str] = []
    drawbacks: list[str] = []
    names: list[str] = []
    for held in rotary.held:
        name, why = _method(held, rotary, lengths, method, lists)
        with computing(name):
            scaled = None if name == LENGTHS_ONLY else _applied(name, held, lengths, lists)
            if scaled is not None:
                scaled.frequencies(lengths.original).inverse(held.rotary_dim)
        if scaled is not None:
            why, names = (*why, *scaled.words), [*names, name]
            drawbacks += scaled.drawbacks
        layers.append((held, scaled))
        words += [f"{held.kind}: {word}" if held.kind else word for word in why]
    if lengths.assumed:
        words.append(f"the config states no length: {lengths.stated:,} tokens are the default of transformers' class")
    if not names and method != "auto":
        raise GnomonError(f"No layer of this model needs {method}: {words[0]}; --method auto changes the lengths only.")
    if lists is not None and "longrope" not in names:
        raise GnomonError(f"Nothing would read the lists of divisors: they are for longrope, not for {method}.")
    if lengths.factor > REACH and (method == "auto" or "yarn" in names) and set(names) - {"longrope"}:
        drawbacks.insert(0, _beyond(lengths))
    if not rotary.known:
        drawbacks.append(
            f"gnomon does not know the model type {rotary.model_type!r}, and read its rotary keys as usual"
        )
    if rotary.held[0].kind is None and {"sliding_attention", "full_attention"} <= set(_types(rotary)) and names:
        drawbacks.append("layers with a window share the block of the others, so they are scaled too")
    found = ", ".join(dict.fromkeys(names)) or LENGTHS_ONLY
    return Composed(tuple(layers), lengths, found, tuple(words), tuple(dict.fromkeys(drawbacks)))


def _beyond(lengths: Lengths) -> str:
    return (
        f"no published result supports a factor of {lengths.factor:g}: YaRN was tried up to {REACH:g}, so expect the "
        "whole model to get worse, in short sequences too, and measure it with --check; LongRoPE with searched factors "
        "for each pair (--method longrope --search) is what is published for more"
    )


def _method(
    held: Held, rotary: RotaryConfig, lengths: Lengths, method: str, lists: Lists | None
) -> tuple[str, tuple[str, ...]]:
    if held.windowed:
        return LENGTHS_ONLY, (
            "no distance in these layers is longer than a window within the trained length, so they turn as before",
        )
    if rotary.fixed:
        raise GnomonError(
            f"A {rotary.model_type} model has its frequencies in its code or its tensors; no key scales them."
        )
    if lists is not None and method in ("auto", "longrope"):
        return "longrope", ()
    if method == "auto":
        name, why = chosen(held, lengths, rotary.longrope_only)
        if name not in (*METHODS, LENGTHS_ONLY):
            raise GnomonError(
                f"The checkpoint is scaled by {name!r}, a rule that gnomon does not extend; it extends "
                f"{', '.join(METHODS)} and plain frequencies."
            )
        return name, why
    if rotary.longrope_only and method not in ("longrope", "ntk"):
        raise GnomonError(
            f"transformers reads no scaling but longrope in a {rotary.model_type} config; use longrope, or ntk, which "
            f"needs none."
        )
    if method not in METHODS:
        raise GnomonError(f"{method!r} is no method for a model with rotary positions; use auto, {', '.join(METHODS)}.")
    return method, ()


def _applied(name: str, held: Held, lengths: Lengths, lists: Lists | None) -> Scaled:
    if lengths.beside and name != "ntk":
        raise GnomonError(
            f"The config states {lengths.original:,} tokens and no scaling, and {lengths.beside:,} as the original "
            f"length, as after ntk, which raises the base; {name} counts from the trained length, so say which it is "
            f"with --original {lengths.original} or --original {lengths.beside}, or go on with ntk."
        )
    return longrope(held, lengths, lists) if name == "longrope" else METHODS[name](held, lengths)


def _types(rotary: RotaryConfig) -> tuple[str, ...]:
    found = rotary.part.get("layer_types")
    return tuple(str(kind) for kind in found) if isinstance(found, list | tuple) else ()
