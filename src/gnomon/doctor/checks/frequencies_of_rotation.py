"""PE330: frequencies of a rotation that no published rule gives, where no config says which were meant."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.expected import angles_follow_positions, claims_or_none
from gnomon.doctor.evidence.rotary import RotaryUse, rotary_uses
from gnomon.doctor.evidence.sinusoid import fit_base
from gnomon.doctor.evidence.trace import trace
from gnomon.doctor.evidence.turned import turned_lanes
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding, Measured

EVEN = Threshold(0.01, "relative; float32 gives 1e-5, tables in bfloat16 4e-3")
LEAST_BASE = 1000.0  # text models use 10000 and more; vision models, whose grids are short, go down to 100
STILL = 1e-9


@check("PE330", "frequencies-of-rotation", severity="warning", needs=(rotary_uses,))
def frequencies_of_rotation(subject: Subject) -> Iterator[Finding | Measured]:
    """The frequencies of a rotation fit no published rule, or the rotation was done before heads were split.

    Why: where no config states the base, the frequencies themselves still tell a slip. They fall from pair to pair,
    the fastest turns one radian a position, or less by a scaling factor, and each is the same part of the one before
    (or a published scaling bends that). A plus in the exponent, degrees, equal steps in place of equal ratios, an
    exponent cut to whole numbers, a logarithm of another base, or exponents over another width all break one of the
    three. A rotation by halves over all heads at once pairs lanes of different heads, so that no head's scores depend
    on the distance.

    Fix: base ** (-torch.arange(0, r, 2).float() / r) with r the rotated width of one head, times the position as a
    number of tokens, on (B, H, S, r).

    Sources: Su et al. 2021, arXiv:2104.09864, section 3.2.2; huggingface/transformers#25199 for the two layouts.
    """
    if model(subject).takes_images:
        raise MissingEvidence("the model takes images: rows and columns have frequencies of their own")
    if claims_or_none(subject, "rotary"):
        raise MissingEvidence("the config says which frequencies are meant (PE307)")
    if not angles_follow_positions(subject, trace(subject).length):
        raise MissingEvidence("the rotations follow drawn positions, or change with the length within this short input")
    uses = [use for use in rotary_uses(subject) if use.first.axis == "sequence"]
    told = set[str]()
    for use in uses:
        fastest = float(np.abs(use.frequencies).max())
        yield Measured(
            f"fastest pair of {use.where}", fastest, 1, "radians a position; less where positions are scaled"
        )
        finding = _over_heads(subject, use) or _judged(use)
        if finding is not None and finding.message not in told:
            told.add(finding.message)
            yield finding


def _over_heads(subject: Subject, use: RotaryUse) -> Finding | None:
    """A rotation by halves wider than a head: the two lanes of a pair lie in two heads."""
    width = max((lanes.width for lanes in attempt(turned_lanes, subject) or ()), default=0)
    if not width or use.first.layout != "half" or use.first.rotary_dim <= width:
        return None
    return Finding(
        use.where,
        f"{use.first.rotary_dim} lanes are rotated by halves, and a head has {width}: the two lanes of a pair are in "
        "two heads, and no score depends on the distance alone",
        f"split the heads first, (B, H, S, {width}), and rotate each with {width // 2} frequencies",
        {"rotated": use.first.rotary_dim, "width of a head": width},
        severity="error",
    )


def _judged(use: RotaryUse) -> Finding | None:
    """The frequencies by themselves. They are known up to whole turns: one above pi looks slower, or backwards."""
    signed = use.frequencies
    moving = np.abs(signed)[np.abs(signed) > STILL]
    if len(moving) < 3:
        return None
    shown = ", ".join(f"{value:.3g}" for value in signed[:6])
    if np.ptp(moving) <= EVEN.value * moving.max():
        return Finding(
            use.where,
            f"all {len(moving)} pairs turn by {moving[0]:.3g} a position: one frequency where each pair needs its own",
            "use base ** (-torch.arange(0, r, 2).float() / r); whole numbers in the exponent are all cut to 0",
            {"frequency": float(moving[0])},
        )
    if (np.diff(moving) > EVEN.value * moving[:-1]).any() or len(set(np.sign(signed[np.abs(signed) > STILL]))) > 1:
        return Finding(
            use.where,
            f"frequencies do not fall from pair to pair: {shown} radians a position, less whole turns",
            "use base to the minus 2i / r, in radians: a plus in the exponent, or degrees, give whole turns a step",
            {"first": float(signed[0])},
        )
    steps = np.diff(moving)
    if np.ptp(steps) <= EVEN.value * np.abs(steps).max():
        return Finding(
            use.where,
            f"frequencies fall by equal steps of {-steps[0]:.3g}, not by equal ratios: {shown}",
            "use base ** (-torch.arange(0, r, 2).float() / r), or logspace in place of linspace",
            {"step": float(-steps[0])},
        )
    return _scaled(use, moving) or _base(use, moving)


def _scaled(use: RotaryUse, moving: Float64[np.ndarray, " pairs"]) -> Finding | None:
    """Positions times something that is no scaling factor: those divide, by a number somebody chose."""
    factor = 1 / moving[0]
    usual = factor > 1 and abs(factor * 4 - round(factor * 4)) < 4 * EVEN.value
    if abs(factor - 1) <= EVEN.value or usual:
        return None
    said = f"times {moving[0]:.4g}" if factor < 1 else f"divided by {factor:.4g}"
    return Finding(
        use.where,
        f"the fastest pair turns {moving[0]:.4g} radians a position where 1 is usual: positions are {said} "
        f"(layers: {use.layers}, first {use.paths[0]})",
        "multiply frequencies by the position as a whole number of tokens; leave 1/sqrt(d) to the scores",
        {"fastest": float(moving[0])},
    )


def _base(use: RotaryUse, moving: Float64[np.ndarray, " pairs"]) -> Finding | None:
    fit = fit_base(moving / moving[0])
    if fit is None or fit[1] > EVEN.value or fit[0] >= LEAST_BASE:
        return None
    around = 2 * np.pi / moving[-1]
    return Finding(
        use.where,
        f"the frequencies follow base {fit[0]:.4g}: the slowest pair goes round in {around:.0f} positions, and "
        "distances beyond look like near ones",
        f"use base 10000 or more, with the exponent 2i / r and the natural logarithm: {fit[0]:.4g} is {_meant(fit[0])}",
        {"base": fit[0], "positions around": float(around)},
    )


def _meant(base: float) -> str:
    """What a base near one of the usual slips comes from."""
    if abs(base / 100 - 1) < EVEN.value:
        return "what base 10000 gives with the exponent i / r"
    if abs(base / np.exp(4) - 1) < EVEN.value:
        return "exp(log10(10000))"
    return "no base of text models"
