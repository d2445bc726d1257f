"""What the numbers should be: float64 references built from what the config claims."""

import re
from typing import Any

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import claims
from gnomon.encodings.frequencies import Frequencies, build_frequencies
from gnomon.encodings.frequencies import registry as frequency_rules
from gnomon.errors import GnomonError

WIDEST_HEAD = 65_536  # wider is a slip of the pen, and would only cost memory
NO_POSITIONS = ("none", "nope")  #: kinds of a claim that promise no positions at all


def claims_of(subject: Subject, kind: str) -> tuple[Claim, ...]:
    """The claims of one kind; raises MissingEvidence when the config makes none."""
    found = tuple(claim for claim in subject.claims if claim.kind == kind)
    if not found:
        raise MissingEvidence(f"the config claims no {kind} encoding")
    return found


def claims_or_none(subject: Subject, kind: str) -> tuple[Claim, ...]:
    """As `claims_of`, but empty when nothing is claimed: for checks that can also judge without a config."""
    return tuple(claim for claim in claims(subject) if claim.kind == kind)


def expected_rule(claim: Claim) -> Frequencies:
    """The frequency rule of a rotary claim.

    Raises MissingEvidence for a rule that gnomon does not build, and for numbers no rule can have (PE102's matter).
    """
    fields = dict(claim.options.get("frequencies", {}))
    kind = str(fields.get("kind"))
    if kind not in frequency_rules:
        raise MissingEvidence(f"no reference formula for the frequency rule {kind!r} yet")
    try:
        return build_frequencies(fields)
    except (GnomonError, TypeError, ValueError, OverflowError) as error:  # a config may hold anything
        raise MissingEvidence(f"the config's frequencies cannot be built: {error}") from None


def expected_frequencies(claim: Claim) -> Float64[np.ndarray, " pairs"]:
    """Inverse frequencies of a rotary claim; raises MissingEvidence as `expected_rule` does."""
    rule = expected_rule(claim)
    try:
        return rule.inverse(rotary_dim(claim))
    except (GnomonError, TypeError, ValueError, OverflowError) as error:
        raise MissingEvidence(f"the config's frequencies cannot be built: {error}") from None


def angles_follow_positions(subject: Subject, length: int) -> bool:
    """Whether a claimed rotation turns position p by p times one frequency, in sequences of up to `length` tokens.

    Not where positions are drawn at random, and not where a rule has other frequencies for longer sequences. True when
    nothing says otherwise.
    """
    return all(_follows(claim, length) for claim in claims_or_none(subject, "rotary")) and not claims_or_none(
        subject, "randomized"
    )


def _follows(claim: Claim, length: int) -> bool:
    try:
        rule = expected_rule(claim)
    except MissingEvidence:
        return True
    return rule.regime(1) == rule.regime(length)


def rotary_dim(claim: Claim) -> int:
    """The rotated width of one head that a rotary claim states; raises MissingEvidence for what cannot be one."""
    stated = claim.options.get("rotary_dim") or claim.options.get("head_dim")
    if isinstance(stated, bool) or not isinstance(stated, int) or not 0 < stated <= WIDEST_HEAD:
        raise MissingEvidence(f"the config states no usable width of a head: {stated!r}")
    return stated


def place(path: str) -> str:
    """A module path with its layer numbers as stars: one name for the same thing in every layer.

    >>> place("model.layers.3.self_attn")
    'model.layers.*.self_attn'
    """
    return re.sub(r"(?<=\.)\d+(?=\.|$)", "*", path) or "the model"


def wrapped(angle: Any) -> Any:
    """Angles brought into (-pi, pi]."""
    return np.angle(np.exp(1j * np.asarray(angle, dtype=np.float64)))
