"""The parameters of a model that carry positions: tables that are added, tables of biases, frequencies, slopes."""

from dataclasses import dataclass

from gnomon.adapters.position_names import is_relative_name, of_encodings
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.tables import Table, tables


@dataclass(frozen=True)
class PositionParameter:
    """A parameter by its name; `table` is its numbers when they are one vector for each position."""

    name: str
    table: Table | None = None


@evidence
def position_parameters(subject: Subject) -> tuple[PositionParameter, ...]:
    """Every parameter that carries positions, tables first; raises MissingEvidence when there is none."""
    names = [name for name, _ in subject.module.named_parameters()]
    known = {t.name: t for t in attempt(tables, subject) or () if t.name in names}
    own = of_encodings(subject.module)
    found = [PositionParameter(n, known[n]) for n in names if n in known and known[n].kind != "frequencies"]
    taken = {parameter.name for parameter in found}
    others = (n for n in names if n not in taken and (n in own or is_relative_name(n) or n in known))
    found += [PositionParameter(n) for n in others]
    if not found:
        raise MissingEvidence("no parameter of the model carries positions")
    return tuple(found)
