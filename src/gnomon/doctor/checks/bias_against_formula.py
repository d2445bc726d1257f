"""PE308: the ALiBi bias that the forward adds, against the published slopes."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.biases import BiasUse, bias_uses
from gnomon.doctor.evidence.expected import claims_or_none, place
from gnomon.doctor.thresholds import Threshold
from gnomon.encodings.alibi import reference
from gnomon.report.document import Finding, Measured

STRAIGHT = 1e-3  # how far from a straight line, relative to the steepest slope
SLOPE = Threshold(1e-3, "relative; float32 slopes give 1e-6, a wrong rule is off by 4 % and more")


@check("PE308", "bias-against-formula", severity="error", needs=(bias_uses,))
def bias_against_formula(subject: Subject) -> Iterator[Finding | Measured]:
    """The ALiBi bias has another sign, other slopes or other heads than the formula, or is added twice.

    Why: head h of H is penalised by 2^(-8h/H) for each step of distance, h = 1 ... H, with a published rule for head
    counts that are no power of two. A flipped sign rewards distance; slopes such as 2^(-8/H), 2^(-9/H) look right and
    are not; a bias added on two paths counts double. Compared modulo a row constant, which the softmax ignores.

    Fix: bias = -slope[h] * |query position - key position|, added once to the logits after the 1/sqrt(d) scale, apart
    from the mask.

    Sources: Press et al. 2022, arXiv:2108.12409, section 3; transformers issue 28380 (six heads) and 29067 (a bias
    added twice in Falcon's eager path; so in 5.24). Measured on 5.24: MPT does not pass its alibi_bias_max on.
    """
    uses = tuple({_same(use): use for use in reversed(bias_uses(subject))}.values())[::-1]
    claims = claims_or_none(subject, "alibi")
    if not claims:
        yield from _unclaimed(uses)
        return
    worst = 0.0
    for use in uses:
        heads = claims[0].options.get("num_heads")
        if not isinstance(heads, int):
            raise MissingEvidence("the config states no usable number of heads")
        # reference(head, query, key, heads): one step of distance costs the slope
        slopes = np.array([-reference(h, 1, 0, heads) for h in range(heads)])
        if len(use.slopes) not in (heads, 1):
            yield Finding(
                place(use.where), f"the bias has {len(use.slopes)} heads, the config {heads}", "one slope a head"
            )
            continue
        slopes = slopes ** (float(claims[0].options.get("alibi_bias_max", 8)) / 8)  # MPT: 2^(-bias_max h/H)
        # Falcon scales its logits after the bias is added, so the bias is scaled with them.
        slopes = slopes * float(claims[0].options.get("logit_scale", 1.0))
        error = float(np.abs(use.slopes / slopes - 1).max())
        worst = max(worst, error)
        if error > SLOPE.value:
            yield _finding(use, slopes, error)
        elif use.ahead is not None and (rewarded := _ahead(use)) is not None:
            yield rewarded
    yield Measured("largest relative error of a slope", worst, SLOPE.value, SLOPE.why)


def _same(use: BiasUse) -> tuple[str, bytes]:
    """Equal for the same bias in another layer."""
    return place(use.where), use.slopes.round(6).tobytes()


def _unclaimed(uses: tuple[BiasUse, ...]) -> Iterator[Finding | Measured]:
    """Nothing says which bias it is: a linear one can still be told to grow the wrong way."""
    linear = [use for use in uses if use.curvature <= STRAIGHT * np.abs(use.slopes).max()]
    if not linear:
        raise MissingEvidence("no claim of ALiBi, and the bias that was seen is not linear in the distance")
    for use in linear:
        steepest = float(use.slopes[np.abs(use.slopes).argmax()])
        yield Measured(f"steepest slope of {place(use.where)}", steepest, 0, "logits should fall with distance")
        if (use.slopes > 0).all() and (rewarded := _ahead(use)) is not None:
            yield rewarded
        if (use.slopes < 0).all():
            yield Finding(
                place(use.where),
                f"the bias grows with distance (by up to {-steepest:.3g} a step): its sign is flipped",
                "subtract slope times distance",
                {"slope": steepest},
            )
        elif (use.slopes > 0).all() and len(use.slopes) > 1:
            yield from _unpublished(use)


def _unpublished(use: BiasUse) -> Iterator[Finding]:
    """Slopes that fall with distance, as they should, and are not those of any order of the heads."""
    heads = len(use.slopes)
    published = np.sort([-reference(h, 1, 0, heads) for h in range(heads)])
    found = np.sort(use.slopes)
    if np.abs(found / published - 1).max() <= SLOPE.value:
        return
    wanted = ", ".join(f"{slope:.4g}" for slope in published[::-1][:12])
    ratio = found / published
    if np.ptp(found) <= SLOPE.value * found.max():
        message = f"all {heads} heads have one slope, {found[0]:.4g}: slopes are to differ from head to head"
    elif np.ptp(ratio) <= SLOPE.value * ratio.max():
        message = f"the bias is {ratio[0]:.3g} times the published one"
    else:
        message = f"slopes {', '.join(f'{slope:.4g}' for slope in found[::-1][:12])} are not the published ones"
    yield Finding(
        place(use.where),
        message,
        f"use 2^(-8h/H), h = 1 ... H, the same in every layer: {wanted}; if slopes are trained, ignore this",
        {"steepest": float(found[-1]), "published": float(published[-1])},
        severity="warning",
    )


def _ahead(use: BiasUse) -> Finding | None:
    """A bias that falls with distance backwards and grows forwards: the short form for causal masks, without one."""
    if use.ahead is None or not (use.ahead < -STRAIGHT * np.abs(use.slopes)).any():
        return None
    head = int(use.ahead.argmin())
    return Finding(
        place(use.where),
        f"later keys are not masked, and get more the further ahead they are (head {head}: "
        f"{-use.ahead[head]:.3g} a step)",
        "use -slope * |query position - key position|; slope * key position equals it under a causal mask only",
        {"a step ahead": float(-use.ahead[head]), "a step back": float(-use.slopes[head])},
    )


def _finding(use: BiasUse, slopes: np.ndarray, error: float) -> Finding:  # type: ignore[type-arg]
    ratio = use.slopes / slopes
    if np.allclose(ratio, -1, atol=0.01):
        message, fix = "the bias grows with distance: its sign is flipped", "subtract slope times distance"
    elif np.allclose(ratio, ratio[0], atol=0.01):
        message, fix = f"the bias is {ratio[0]:.3g} times the published one", "add it once, with slopes 2^(-8h/H)"
    else:
        message, fix = (
            f"slopes differ by up to {error:.2g} (relative)",
            f"use 2^(-8h/H), h = 1 ... H, and its published rule: {', '.join(f'{slope:.4g}' for slope in slopes[:12])}",
        )
    return Finding(
        place(use.where), message, fix, {"ratio of the first head": float(ratio[0]), "relative error": error}
    )
