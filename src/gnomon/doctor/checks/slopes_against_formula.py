"""PE215: stored ALiBi slopes differ from the published ones."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.expected import claims_or_none
from gnomon.doctor.evidence.slopes import StoredSlopes, stored_slopes
from gnomon.encodings import ALiBi
from gnomon.report.document import Finding, Measured

LIMIT = 0.01  # relative; bfloat16 costs 0.004


@check("PE215", "slopes-against-formula", severity="error", needs=(stored_slopes,))
def slopes_against_formula(subject: Subject) -> Iterator[Finding | Measured]:
    """The slopes of ALiBi that a model keeps in a buffer are not those published for its number of heads.

    Why: a head's slope decides how far it looks. One step too steep (an exponent counted from 0), a plain geometric
    series where the number of heads is no power of two, or slopes for 8 heads that were not cut to 6 change every
    score, and weights trained with other slopes read the wrong distances. Shapes are right, so nothing fails.

    Fix: for n heads, n a power of two, head h = 1 .. n has slope 2^(-8 h / n); otherwise take those of the next smaller
    power of two and then every other slope of the next larger one, in that order.

    Sources: Press et al. 2022, arXiv:2108.12409, section 3, and the authors' code; mlx issues 343 and 3071 (12 heads),
    aprender issue 2143 (exponent from 0), transformers issue 28380 (6 heads).
    """
    stated = claims_or_none(subject, "alibi")
    for stored in stored_slopes(subject):
        fitting = [c.options for c in stated if c.options.get("num_heads") == len(stored.values)]
        named = {k: fitting[0][k] for k in ("alibi_bias_max", "logit_scale") if k in fitting[0]} if fitting else {}
        expected = np.array(ALiBi(len(stored.values), **named).slopes)
        error = float((np.abs(stored.values - expected) / expected).max())
        yield Measured(f"largest error of {stored.name}", error, LIMIT, "relative to the published slope of the head")
        if not error <= LIMIT:
            yield _finding(stored, expected, error, certain=bool(fitting))


def _finding(stored: StoredSlopes, expected: Float64[np.ndarray, " heads"], error: float, *, certain: bool) -> Finding:
    """An error where the config claims ALiBi; else a model may have slopes of its own."""
    return Finding(
        stored.name,
        f"the slopes of {len(expected)} heads are {_listed(stored.values)}{_cause(stored.values, expected)}",
        f"the published slopes are {_listed(expected)}; build them as in the paper's section 3",
        {"slopes": stored.values.tolist(), "published": expected.tolist(), "error": error},
        severity="error" if certain else "warning",
    )


def _cause(found: Float64[np.ndarray, " heads"], expected: Float64[np.ndarray, " heads"]) -> str:
    heads = len(found)
    if np.allclose(found / found[0], expected / expected[0], rtol=LIMIT):
        return f", {found[0] / expected[0]:.3g} times the published ones: the exponent starts at another number"
    if np.allclose(np.sort(found), np.sort(expected), rtol=LIMIT):
        return ": the right numbers in another order of heads"
    if np.allclose(found, 2.0 ** (-8 * np.arange(1, heads + 1) / heads), rtol=LIMIT):
        return f": one geometric series, though {heads} is no power of two"
    return ""


def _listed(slopes: Float64[np.ndarray, " heads"]) -> str:
    shown = ", ".join(f"{slope:.6g}" for slope in slopes[:6])
    return shown + (", ..." if len(slopes) > 6 else "")
