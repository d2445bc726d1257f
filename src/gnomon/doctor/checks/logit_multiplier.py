"""PE314: what every product of a query and a key is multiplied by in all, against the scaling rule of the config."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.expected import claims_of, expected_rule, place
from gnomon.doctor.evidence.layer_kinds import claims_for, layer_kinds
from gnomon.doctor.evidence.rotary import RotaryUse, rotary_uses
from gnomon.doctor.evidence.scores import Score, scores
from gnomon.doctor.thresholds import Threshold
from gnomon.encodings.frequencies.yarn import YaRN
from gnomon.report.document import Finding, Measured

TOTAL = Threshold(0.01, "relative; float32 gives 1e-5, tables in bfloat16 8e-3, a forgotten or doubled factor 0.1")
ROOTS = ("query_pre_attn_scalar",)  #: the logits are divided by the root of this number (Gemma)
FACTORS = ("attention_multiplier", "softmax_scale")  #: the logits are multiplied by this number (Granite, MPT)
LATENT = "kv_lora_rank"  #: only attention of DeepSeek's kind puts mscale_all_dim into the softmax


@check("PE314", "logit-multiplier", severity="error", needs=(rotary_uses, scores))
def logit_multiplier(subject: Subject) -> Iterator[Finding | Measured]:
    """The logits are not multiplied by what the config's scaling rule gives: its factor is missing, doubled or another.

    Why: YaRN sharpens attention by a factor, which some code puts on cos and sin (so that logits get its square) and
    some on the softmax. DeepSeek's form uses both: the ratio of mscale and mscale_all_dim on the tables, the square of
    the latter on the softmax. A factor that is counted in both places, or in neither, leaves text fluent and long
    context worse. What counts is the total: the softmax multiplier, times the square of the table's factor, times the
    root of the head's width, read off the operations that run.

    Fix: total = attention_factor^2 (0.1 ln(factor) + 1, squared) for YaRN; with mscale = mscale_all_dim in latent
    attention tables 1 and softmax scale times (0.1 mscale ln(factor) + 1)^2.

    Sources: Peng et al. 2023, arXiv:2309.00071, section 3.4; transformers#47435, sglang#22711, llama.cpp#17945.
    """
    claims = tuple(claim for claim in claims_of(subject, "rotary") if _scales(claim))
    if not claims:
        raise MissingEvidence("the config has no scaling rule with a factor on the logits")
    config = attempt(lambda s: s.config, subject) or {}
    factors = {path: use for use in rotary_uses(subject) for path in use.paths}
    told, judged = set[str](), False
    for score in scores(subject):
        use = factors.get(score.where)
        if use is None or use.first.table_layout == "unseen" or abs(score.multiplier - 1) < TOTAL.value:
            continue  # scaled before the product, or not at all: the product does not tell
        judged = True
        found = score.multiplier * score.head_dim**0.5 * use.first.factor**2
        fitting = [_expected(c, config, score.head_dim) for c in claims_for(use, claims, layer_kinds(subject))]
        expected = min(fitting, key=lambda total: abs(total - found))
        yield Measured(f"total multiplier of {score.where}", found, expected, TOTAL.why)
        if abs(found / expected - 1) > TOTAL.value and place(score.where) not in told:
            told.add(place(score.where))
            yield _finding(score, use, found, expected)
    if not judged:
        raise MissingEvidence("queries are scaled before they meet the keys: the multiplier cannot be told apart")


def _scales(claim: Claim) -> bool:
    rule = expected_rule(claim)
    return rule.attention_factor != 1 or bool(getattr(rule, "mscale_all_dim", None))


def _expected(claim: Claim, config: Mapping[str, Any], head_dim: int) -> float:
    """Total multiplier times the root of the head's width."""
    rule = expected_rule(claim)
    total = rule.attention_factor**2
    if isinstance(rule, YaRN) and rule.mscale_all_dim and LATENT in config:
        total *= (0.1 * rule.mscale_all_dim * math.log(rule.parts.factor) + 1) ** 2
    root = next((config[key] for key in ROOTS if isinstance(config.get(key), int | float)), head_dim)
    scale = next((config[key] for key in FACTORS if isinstance(config.get(key), int | float)), root**-0.5)
    return float(total * scale * head_dim**0.5)


def _finding(score: Score, use: RotaryUse, found: float, expected: float) -> Finding:
    table, softmax = use.first.factor**2, score.multiplier * score.head_dim**0.5
    return Finding(
        place(score.where),
        f"logits are multiplied by {found:.4f} / sqrt({score.head_dim}) in all ({table:.4f} by the tables, "
        f"{softmax:.5f} by the softmax); the config's rule gives {expected:.5f}",
        f"let the product of both be {expected:.5f}: apply the scaling factor once, on the tables or on the softmax",
        {"total": found, "expected": expected, "tables": table, "softmax": softmax},
    )
