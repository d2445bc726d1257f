"""The figures of a report: every encoding found, drawn from the numbers that the subject really holds."""

from collections.abc import Iterator

import torch

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, claims
from gnomon.doctor.evidence.expected import expected_frequencies, expected_rule
from gnomon.doctor.evidence.tables import position_tables
from gnomon.doctor.evidence.used import used_table
from gnomon.doctor.lengths_figure import lengths_figure
from gnomon.encodings import build
from gnomon.errors import GnomonError
from gnomon.plots.figure import Figure
from gnomon.portraits import portrait, rotary_portrait, table_portrait

LENGTH = 512  # positions drawn when nothing states a length
LONGEST = 8192  # positions drawn at most; beyond, a heat map shows no more
MOST_TABLES = 2  # a report with forty layers' tables would not be read


def figures(subject: Subject) -> tuple[Figure, ...]:
    """Heat map, waves, similarity and decay of each encoding that has numbers, and the lengths of inputs when given."""
    return (*_tables(subject), *_claims(subject), *lengths_figure(subject))


def _tables(subject: Subject) -> Iterator[Figure]:
    stored = [(t.name, t.used()) for t in (attempt(position_tables, subject) or ())[:MOST_TABLES]]
    if not stored and subject.has("module") and not _claimed(subject, ("rotary", "alibi")):
        used = attempt(used_table, subject)
        stored = [] if used is None else [(used.where, used.values)]
    for name, values in stored:
        if min(values.shape) > 1:
            yield from table_portrait(values, title=name)


def _claimed(subject: Subject, kinds: tuple[str, ...]) -> list[Claim]:
    return [claim for claim in claims(subject) if claim.kind in kinds]


def _claims(subject: Subject) -> Iterator[Figure]:
    for claim in _claimed(subject, ("rotary", "alibi")):
        try:
            if claim.kind == "rotary":
                yield from rotary_portrait(
                    expected_frequencies(claim),
                    length=_length(subject),
                    attention_factor=expected_rule(claim).attention_factor,
                    title=f"rotary, {claim.where}",
                )
            else:
                with torch.no_grad():
                    yield from portrait(build("alibi", num_heads=int(claim.options["num_heads"])), length=LENGTH)
        except (MissingEvidence, GnomonError, KeyError, TypeError, ValueError):
            continue  # a rule without a formula here, or numbers that a check reports


def _length(subject: Subject) -> int:
    stated = (attempt(lambda s: s.config, subject) or {}).get("max_position_embeddings")
    return min(stated, LONGEST) if isinstance(stated, int) and stated > 1 else LENGTH
