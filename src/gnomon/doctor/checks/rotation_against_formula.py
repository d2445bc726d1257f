"""PE307: the rotation that the forward does, against the one that the config claims."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.expected import (
    angles_follow_positions,
    claims_or_none,
    expected_frequencies,
    expected_rule,
    place,
    rotary_dim,
)
from gnomon.doctor.evidence.layer_kinds import claims_for, layer_kinds, layers_of, layers_without_positions
from gnomon.doctor.evidence.rotary import RotaryUse, rotary_uses
from gnomon.doctor.evidence.sinusoid import fit_base
from gnomon.doctor.evidence.trace import trace
from gnomon.doctor.evidence.turned import TurnedLanes, turned_lanes
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding, Measured, Severity

FREQUENCY = Threshold(1e-3, "relative; float32 tables give 1e-5, a base off by 1 % gives 1e-2")
HALF_FREQUENCY = Threshold(0.05, "relative; read off a table of bfloat16 sines, good to 0.03")
FACTOR = Threshold(5e-3, "length after / before, relative to the rule's; bfloat16 tables stay within 4e-3")

MIRRORED_FAMILIES = frozenset({"nanochat"})  # karpathy/nanochat: (a cos + b sin, b cos - a sin), for both


@check("PE307", "rotation-against-formula", severity="error", needs=(rotary_uses,))
def rotation_against_formula(subject: Subject) -> Iterator[Finding | Measured]:
    """Queries and keys are not rotated as the config says: pairs, direction, width, base, start or size differ.

    Why: a rotation has four silent ways to be wrong. Pairs: (i, i + d/2) or (2i, 2i + 1), and trained weights fit
    only one. Direction: the sign of the sine. Frequencies: base, width of the exponent, scaling. Size: tables
    arranged for the other kind of pairs stretch vectors. The measurement reads cos, sin and the pairs off the
    operations that really run, so it does not matter how the code is written or named.

    Fix: rotate pairs as the checkpoint's family does (Hugging Face Llama: halves; GPT-J: neighbours), by +position
    times base^(-2i/rotated width), tables repeated as the pairs are, the same for queries and keys, from position 0.

    Sources: Su et al. 2021, arXiv:2104.09864, equations 14, 15 and 34; transformers issues 25199 (not a fault) and
    39687; nanotron issue 427, Megatron-LM issue 3900.
    """
    if model(subject).takes_images:
        raise MissingEvidence("the model takes images: its rotations follow rows and columns, not one sequence")
    claims = claims_or_none(subject, "rotary")
    if claims and attempt(rotary_uses, subject) is None and trace(subject).attentions:
        yield Finding(
            claims[0].where,
            "the config claims a rotary encoding, but no rotation of queries and keys was recognised in the forward",
            "rotate queries and keys in every layer; if they are rotated in a form not known here, ignore this",
            severity="warning",
        )
    if not angles_follow_positions(subject, trace(subject).length):
        raise MissingEvidence("the rotations follow drawn positions, or change with the length within this short input")
    uses = rotary_uses(subject)
    kinds = layer_kinds(subject)
    limit = HALF_FREQUENCY if model(subject).is_half else FREQUENCY
    mirrored = not claims and all(use.sense < 0 for use in uses)
    for use in uses:
        yield from _itself(use, "note" if attempt(_is_mirrored, subject) else "warning" if mirrored else "error")
        if claims:
            yield from _against(use, claims_for(use, claims, kinds), limit)
    yield from _together(uses)
    yield from _alone(uses, attempt(turned_lanes, subject) or ())
    wrong = sorted(layers_without_positions(subject) & frozenset().union(*(layers_of(use) for use in uses)))
    if wrong:
        yield Finding(
            f"layers {', '.join(map(str, wrong))}",
            "queries and keys are rotated in layers that the config says have no positions",
            "skip the rotation there; a list named no_rope_layers holds 0 for the layers without",
            {"layers": wrong},
        )


def _is_mirrored(subject: Subject) -> bool:
    return subject.config.get("model_type") in MIRRORED_FAMILIES


def _itself(use: RotaryUse, backwards: Severity) -> Iterator[Finding | Measured]:
    """What can be judged without a config; `backwards`: how grave a rotation the other way is.

    Queries and keys that both turn the other way give the mirrored scores, which a model learns as well.
    """
    first = use.first
    yield Measured(f"direction in {use.where}", use.sense, 1, "+1: (a cos - b sin, b cos + a sin)")
    if first.axis == "batch":
        yield Finding(
            use.where,
            "angles vary along the batch axis and not along the sequence",
            "give each token the angle of its own position: tables broadcast over batch and heads",
        )
    if first.axis == "heads":
        heads = first.cos.shape[1]
        yield Finding(
            use.where,
            f"angles vary along the {heads} heads and not along the sequence: tokens of all places turn alike",
            "count positions along the axis of tokens: (B, H, S, D) has it at -2, (B, S, H, D) at 1, where tables need "
            "an axis of size 1 for the heads: cos[:, None, :]",
            {"axis": "heads", "heads": heads},
        )
    if use.sense < 0 and first.axis == "sequence":
        yield Finding(
            use.where,
            "the rotation runs backwards: the sign of the sine is flipped",
            "use (a cos - b sin, b cos + a sin); check rotate_half's minus sign, the table of sines, or a conjugated "
            "complex number",
            {"direction": -1},
            severity=backwards,
        )
    if first.table_layout not in (first.layout, "unseen"):
        yield Finding(
            use.where,
            f"pairs are {first.layout} but cos and sin are arranged {first.table_layout}: "
            "the two lanes of a pair turn by different angles and lengths are not kept",
            f"repeat the tables {'by cat((f, f))' if first.layout == 'half' else 'by repeat_interleave(2)'}",
            {"pairs": first.layout, "tables": first.table_layout},
        )
    if first.axis == "sequence" and not first.angles().abs().max() > 0:
        yield Finding(
            use.where,
            f"every angle is zero in {_some(use.paths)}: nothing is rotated",
            "compute the frequencies after loading",
        )


def _some(paths: tuple[str, ...]) -> str:
    """The first modules of some, each once."""
    named = list(dict.fromkeys(paths))
    return ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")


def _against(use: RotaryUse, claims: tuple[Claim, ...], limit: Threshold) -> Iterator[Finding | Measured]:
    """Against the claim that fits best among those for its layers."""
    if use.first.axis != "sequence":
        return
    scored = [(error, claim) for claim in claims if (error := _error(use, claim)) is not None]
    if not scored:
        widths = sorted({rotary_dim(claim) for claim in claims})
        yield Finding(
            use.where,
            f"{use.first.rotary_dim} lanes of each head are rotated, the config says {widths[0]}",
            f"rotate the first {widths[0]} lanes and leave the rest as they are",
            {"rotated": use.first.rotary_dim, "claimed": widths[0]},
        )
        return
    error, claim = min(scored, key=lambda pair: pair[0])
    yield Measured(f"frequencies of {use.where} against the config", error, limit.value, limit.why)
    if error > limit.value:
        yield _wrong_frequencies(use, claim, error)
    layout = claim.options.get("layout")
    if layout in ("half", "interleaved") and layout != use.first.layout:
        yield Finding(
            use.where,
            f"pairs are {use.first.layout}, but weights of this kind are made for {layout} pairs",
            f"rotate {layout} pairs, or permute the rows of the query and key projections once",
            {"pairs": use.first.layout, "claimed": layout},
        )
    yield from _size(use, claim)


def _size(use: RotaryUse, claim: Claim) -> Iterator[Finding | Measured]:
    """What cos and sin are multiplied by, against the attention factor of the claimed rule."""
    if use.first.table_layout == "unseen":
        return
    expected, found = expected_rule(claim).attention_factor, use.first.factor
    yield Measured(f"size factor of {use.where}", found, expected, FACTOR.why)
    if abs(found - expected) <= FACTOR.value * expected:
        return
    kind = dict(claim.options["frequencies"])["kind"]
    if expected == 1:
        wanted = f"{kind} frequencies have no such factor"
        fix = "remove the factor on cos and sin; only scaling rules such as YaRN have one"
    else:
        wanted = f"the config's {kind} rule has {expected:.4f}"
        fix = f"multiply cos and sin by {expected:.4f} once, or write attention_factor into the config"
    yield Finding(
        use.where,
        f"the rotation multiplies lengths by {found:.4f}, and so every score by its square; {wanted}",
        fix,
        {"factor": found, "expected": expected},
    )


def _error(use: RotaryUse, claim: Claim) -> float | None:
    if rotary_dim(claim) != use.first.rotary_dim:
        return None
    expected = expected_frequencies(claim)
    return float((np.abs(np.abs(use.frequencies) - expected) / np.maximum(expected, 1e-12)).max())


def _wrong_frequencies(use: RotaryUse, claim: Claim, error: float) -> Finding:
    fit = fit_base(np.abs(use.frequencies))
    stated = dict(claim.options["frequencies"])
    if fit is not None and fit[1] < 0.01:
        message = (
            f"the frequencies follow base {fit[0]:.6g}, the config says {stated.get('base')} ({stated.get('kind')})"
        )
        fix = f"build the frequencies from the config's base {stated.get('base')}, or correct the config"
    else:
        message = f"the frequencies differ from the config's {stated} by up to {error:.2g} (relative)"
        fix = "recompute the frequencies from the config in float32 after loading and casting"
    return Finding(use.where, message, fix, {"relative error": error, "base": fit[0] if fit else "none"})


def _alone(uses: tuple[RotaryUse, ...], lanes: tuple[TurnedLanes, ...]) -> Iterator[Finding]:
    """A layer in which one tensor is turned: queries or keys may have been forgotten, unless both are seen to turn."""
    turned = Counter(path for use in uses for path in use.paths)
    both = {a.where for a, b in zip(lanes[::2], lanes[1::2], strict=True) if a.pairs and b.pairs}
    single = sorted({place(path) for path, count in turned.items() if count == 1 and path not in both})
    for where in single:
        yield Finding(
            where,
            "one rotation was seen where queries and keys need one each",
            "rotate the keys as well as the queries; if one call turns both, joined into one tensor, ignore this",
            {"rotations": 1},
            severity="warning",
        )


def _together(uses: tuple[RotaryUse, ...]) -> Iterator[Finding | Measured]:
    """Queries and keys of one layer must be turned alike."""
    starts: dict[str, list[RotaryUse]] = {}
    for use in uses:
        starts.setdefault(use.where, []).append(use)
    for where, members in starts.items():
        shifts = sorted({use.shift for use in members})
        yield Measured(f"position of the first token in {where}", shifts[0], 0, "queries and keys start alike")
        if len(shifts) > 1 and shifts[-1] - shifts[0] > 1e-2:
            yield Finding(
                where,
                f"queries and keys start at different positions ({', '.join(f'{s:g}' for s in shifts)}): off by "
                f"{shifts[-1] - shifts[0]:g}",
                "multiply the vector by the cosine and its turned copy by the sine: off by pi/2, the two are swapped"
                if any(abs(abs(s) - np.pi / 2) < 1e-2 for s in shifts)
                else "give queries and keys the same position ids",
                {"shifts": [float(s) for s in shifts]},
            )
        elif abs(shifts[0]) > 1e-2:
            yield Finding(
                where,
                f"the first token is at position {shifts[0]:g}, not 0",
                "start at 0; scores do not change, but caches and absolute parts that start at 0 will not fit",
                {"shift": float(shifts[0])},
                severity="note",
            )
