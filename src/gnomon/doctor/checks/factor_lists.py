"""PE114: lists with a number for each rotated pair do not have as many numbers as there are pairs."""

from collections.abc import Iterator
from typing import Any

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.rope_blocks import RopeBlock, positive, rope_blocks
from gnomon.doctor.evidence.rotary_settings import SHARES, rotary_settings
from gnomon.report.document import Finding, Measured

LISTS = ("short_factor", "long_factor")
SECTIONS = ("mrope_section", "xdrope_section")
AXES = 3


@check("PE114", "factor-lists", severity="error", needs=("config",))
def factor_lists(subject: Subject) -> Iterator[Finding | Measured]:
    """LongRoPE's factors or M-RoPE's sections do not add up to the rotated pairs of a head.

    Why: LongRoPE divides the frequency of each pair by a factor of its own, M-RoPE shares the pairs out among time,
    height and width. A list of another length fails with a shape error, or is broadcast, cut or padded by code that
    does not look. It happens when a list is copied from a model of another head width, or the rotated share is lost.

    Fix: give `short_factor` and `long_factor` head_dim x partial_rotary_factor / 2 numbers, and let `mrope_section` sum
    to as many.

    Sources: transformers 5.24 `modeling_rope_utils.py` (the length that it warns of); Qwen2-VL, arXiv:2409.12191,
    section 2.1; LongRoPE, arXiv:2402.13753.
    """
    judged = [item for block in rope_blocks(subject.config) for item in _lists(block)]
    if not judged:
        raise MissingEvidence("no rotary block lists factors or sections, or the width of a head is not stated")
    yield from _axes(subject)
    for where, key, count, pairs in judged:
        yield Measured(f"{where}.{key}", count, pairs, "rotated pairs of a head")
        if count != pairs:
            what = "sums to" if key in SECTIONS else "has as many numbers as"
            yield Finding(
                f"{where}.{key}",
                f"{key} {what} {count}, and a head has {pairs} rotated pairs",
                f"make it {pairs}: half of head_dim times partial_rotary_factor",
                {"found": count, "pairs": pairs},
            )


def _axes(subject: Subject) -> Iterator[Finding]:
    """M-RoPE turns by time, height and width, in turn: a list of two goes round wrongly where it does not fail."""
    for block in rope_blocks(subject.config):
        sections = block.values.get("mrope_section")
        if isinstance(sections, list | tuple) and 0 < len(sections) < AXES:
            yield Finding(
                f"{block.where}.mrope_section",
                f"mrope_section {list(sections)} names {len(sections)} axes; positions have time, height and width",
                f"give it {AXES} numbers of pairs, time first",
                {"axes": len(sections)},
            )


def _lists(block: RopeBlock) -> Iterator[tuple[str, str, int, int]]:
    pairs = _pairs(block)
    for key in (*LISTS, *SECTIONS):
        values = block.values.get(key)
        if pairs and isinstance(values, list | tuple) and all(_is_number(value) for value in values):
            count = sum(map(int, values)) if key in SECTIONS else len(values)
            yield block.where, key, count, pairs


def _pairs(block: RopeBlock) -> int | None:
    """Rotated pairs of a head in this block; its own share goes before the model's."""
    lanes = rotary_settings(block.part).lanes
    if lanes is None:
        return None
    own, stated = next((s for key in SHARES if (s := positive(block.values.get(key)))), None), lanes.key
    if own is None or stated.startswith("qk_"):
        return int(lanes.value) // 2
    head = rotary_settings({**block.part, **dict.fromkeys(SHARES), "rope_parameters": {"partial_rotary_factor": own}})
    return int(head.lanes.value) // 2 if head.lanes else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9
