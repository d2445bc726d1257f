"""How many tokens a model can take: rows of its tables (hard), or the length its config states (soft)."""

from dataclasses import dataclass

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, claims, evidence
from gnomon.doctor.evidence.tables import ADDED, Table, position_tables

OF_IMAGES = ("vision", "image", "patch", "visual", "pixel")


@dataclass(frozen=True)
class LengthLimit:
    """`hard`: more tokens find no row; else the model runs on, at positions it was not made for."""

    tokens: int
    where: str
    hard: bool


@evidence
def length_limits(subject: Subject) -> tuple[LengthLimit, ...]:
    """Every limit on the length of a text, the shortest first; raises MissingEvidence when nothing states one."""
    config = attempt(lambda s: s.config, subject) or {}
    if config.get("patch_size") and config.get("num_channels"):
        raise MissingEvidence("the model takes images, not texts")
    stated = [limit for claim in claims(subject) if not _of_images(claim.where) for limit in _claimed(claim)]
    tables = attempt(position_tables, subject) or ()
    rows = [LengthLimit(_usable(t), t.name, True) for t in tables if t.kind == "learned" and not _of_images(t.name)]
    found = [limit for limit in (*stated, *rows) if limit.tokens > 0]
    # An encoder of sound or images has a table of its own frames: the text is the decoder's.
    if any("decoder" in limit.where for limit in found):
        found = [limit for limit in found if "decoder" in limit.where]
    if not found:
        raise MissingEvidence("neither a config nor a table states how many positions there are")
    return tuple(sorted(found, key=lambda limit: (limit.tokens, not limit.hard)))


def _claimed(claim: Claim) -> list[LengthLimit]:
    """The place of a claim about a decoder stays visible; else the key of the config is named."""
    length = claim.options.get("max_length")
    if claim.kind in ADDED and isinstance(length, int):
        return [LengthLimit(length, _where(claim, "max_length"), claim.kind == "learned")]
    reach = scaled_length(claim)
    return [] if reach is None else [LengthLimit(reach, _where(claim, "stated_length"), False)]


def _where(claim: Claim, option: str) -> str:
    key = claim.keys.get(option, claim.where)
    return f"{key} ({claim.where})" if "decoder" in claim.where else key


def scaled_length(claim: Claim) -> int | None:
    """The length that a rotary claim serves: the stated one, or the original one times the factor when that is more.

    A rule without an original length scales the stated one: configs disagree about which of the two they state.
    """
    stated = claim.options.get("stated_length")
    if claim.kind != "rotary" or not isinstance(stated, int):
        return None
    rule = claim.options.get("frequencies", {})
    factor, original = rule.get("factor", 1.0), rule.get("original_max_length", stated)
    if not isinstance(factor, int | float) or not isinstance(original, int) or not 0 < factor < 1e6:
        return stated
    return max(stated, int(original * factor))


def _usable(table: Table) -> int:
    return len(table.values) - table.reserved


def _of_images(where: str) -> bool:
    return any(word in where.lower() for word in OF_IMAGES)
