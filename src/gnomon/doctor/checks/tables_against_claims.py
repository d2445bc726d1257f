"""PE216: the files hold a position table that the config has no use for."""

from collections.abc import Iterator

from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.configs import config_parts
from gnomon.doctor.evidence.tables import ADDED, Table, tables, word_table
from gnomon.report.document import Finding, Measured


@check("PE216", "tables-against-claims", severity="error", needs=("claims", "tensors", word_table))
def tables_against_claims(subject: Subject) -> Iterator[Finding | Measured]:
    """A learned table of positions is in the files, but the config claims an encoding that has none.

    Why: a loader takes what the config's class asks for. A trained table that the class does not know is dropped with a
    line of log, and the model runs without the positions it was trained with. That is a config of another family, or a
    key that chooses the encoding and was changed after training.

    Fix: correct `model_type`, or the key that chooses the encoding, such as `position_embedding_type`. A table that is
    left over from an earlier model belongs out of the file.

    Sources: DNABERT_2 discussion 9 (the same the other way round: an ALiBi model loaded as plain BERT); transformers
    pull request 35255 (keys in old files that no class asks for).
    """
    stated = subject.claims
    if isinstance(subject.tensors, ModuleTensors):
        raise MissingEvidence("the model is in memory: it has the tables that its class makes")
    word_table(subject)  # without one the file is a part of a model, such as an adapter
    kinds = sorted({claim.kind for claim in stated})
    denied = _denied(subject) if kinds and not set(kinds) & set(ADDED) else []
    yield Measured("tables that no claim uses", len(denied), 0, f"the config claims {', '.join(kinds) or 'none'}")
    for table in denied:
        yield _unused(table, kinds, _unexpected(subject))


def _denied(subject: Subject) -> list[Table]:
    """Learned tables in the files of a model with one tower: in others a table may be that of the images."""
    parts = [prefix for prefix, _ in config_parts(attempt(lambda s: s.config, subject) or {})]
    found = attempt(tables, subject) or ()
    return [t for t in found if t.kind == "learned" and t.claim is None] if len(parts) <= 1 else []


def _unused(table: Table, kinds: list[str], unexpected: frozenset[str]) -> Finding:
    rows, dims = table.values.shape
    return Finding(
        table.name,
        f"the files hold a {rows} x {dims} table of positions, but the config claims {', '.join(kinds)}",
        "correct the config's model_type or position_embedding_type; or take a table that is left over out of it",
        {"rows": rows, "dims": dims},
        severity="error" if table.name in unexpected else "warning",
    )


def _unexpected(subject: Subject) -> frozenset[str]:
    """Names that loading found no place for."""
    report = attempt(lambda s: s.get("loading"), subject) or {}
    return frozenset(str(name) for name in report.get("unexpected", ()))
