"""The parameters of a model that carry positions: tables that are added, tables of biases, frequencies, slopes."""

import re
from dataclasses import dataclass

from torch import nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.tables import Table, tables
from gnomon.encodings.base import PositionEncoding

RELATIVE_NAME = re.compile(
    r"relative_?(attention_?)?(bias|pos\w*|emb\w*)|rel_?(pos|emb|bias)\w*|pos\w*_bias\w*|bias_table|distance_emb\w*|slopes?"
    r"|alibi|(inv|rotary|rope)\w*_?freqs?|(^|[._])freqs([._]|$)|rpe([._]|$)|r_[wr]_bias",
    re.IGNORECASE,
)
NOT_POSITIONS = re.compile(r"proj|dense|norm|mlp|lora|cls", re.IGNORECASE)


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


def is_relative_name(name: str) -> bool:
    """Whether a parameter of this name holds biases, frequencies or slopes, by the names the field uses."""
    return bool(RELATIVE_NAME.search(name)) and not NOT_POSITIONS.search(name)


def of_encodings(module: nn.Module) -> frozenset[str]:
    """Parameters of gnomon's own encodings, whatever they are called."""
    parts = ((path, part) for path, part in module.named_modules() if isinstance(part, PositionEncoding))
    return frozenset(f"{path}.{name}".lstrip(".") for path, part in parts for name, _ in part.named_parameters())
