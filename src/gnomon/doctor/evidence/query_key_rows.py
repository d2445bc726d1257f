"""The rows of query and key projections: which lanes of a head they feed, and how another model has them arranged.

A rotation pairs lanes (i, i + r/2) or (2i, 2i + 1). Weights trained with the one run with the other when the rows of
their query and key projections are gathered within each head; all else stays.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from gnomon.adapters import load_subject
from gnomon.adapters.gguf.config import PERMUTED
from gnomon.adapters.gguf.file import GGUFTensors
from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.expected import claims_or_none, rotary_dim
from gnomon.doctor.evidence.rotary import rotary_uses

Role = Literal["query", "key"]
Layout = Literal["half", "interleaved"]
ROLES: Mapping[str, re.Pattern[str]] = {
    "query": re.compile(
        r"(^|[._])(q|wq|q_?proj|query|attn_q|to_q|q_lin|linear_q|w_q)[._](weight|bias)$", re.IGNORECASE
    ),
    "key": re.compile(r"(^|[._])(k|wk|k_?proj|key|attn_k|to_k|k_lin|linear_k|w_k)[._](weight|bias)$", re.IGNORECASE),
    "fused": re.compile(
        r"(^|[._])(qkv|qkv_?proj|wqkv|attn_qkv|to_qkv|in_proj|c_attn|query_key_value)[._](weight|bias)$", re.IGNORECASE
    ),
}
OTHER_TOWER = re.compile(r"vis(ion|ual)|image|audio|cross|encoder_attn", re.IGNORECASE)
ALIKE = 0.9  # cosine of weights that are the same, fine-tuned or rounded
UNLIKE = 0.8  # of any other arrangement of the same rows; random rows have 0


@dataclass(frozen=True)
class Heads:
    """How the rows of a projection fall into heads: each of `width` rows, the first `rotated` of which are turned."""

    width: int
    rotated: int

    def rows_of(self, how: str, rows: int) -> Tensor:
        """(rows,) int64: row i, gathered to "half" or "interleaved", was this row before; in order for "same"."""
        lanes = torch.arange(self.rotated)
        if how != "same":
            lanes = (lanes.view(-1, 2) if how == "half" else lanes.view(2, -1)).T.flatten()
        head = torch.cat([lanes, torch.arange(self.rotated, self.width)])
        return (torch.arange(0, rows, self.width)[:, None] + head).flatten()


Key = tuple[int, str, str]  # layer, role, weight or bias


def projections(source: TensorSource) -> dict[Key, TensorInfo]:
    """The projections of one source, where a layer has only one of each."""
    found: dict[Key, TensorInfo] = {}
    twice: set[Key] = set()
    for info in source.infos():
        role = next((role for role, pattern in ROLES.items() if pattern.search(info.name)), None)
        numbers = re.findall(r"(?<=[._])\d+(?=[._])", "." + info.name)
        if role is None or OTHER_TOWER.search(info.name):
            continue
        key = (int(numbers[0]) if numbers else 0, role, info.name.rpartition(".")[2])
        twice |= {key} if key in found else set()
        found[key] = info
    return {key: info for key, info in found.items() if key not in twice}


@evidence
def heads(subject: Subject) -> Heads:
    """Width and rotated width of a head, from the claims or from a rotation that was seen."""
    for claim in claims_or_none(subject, "rotary"):
        width = claim.options.get("head_dim")
        rotated = attempt(partial(_rotated, claim), subject)
        if isinstance(width, int) and rotated is not None and 0 < rotated <= width and rotated % 2 == 0:
            return Heads(width, rotated)
    uses = rotary_uses(subject)
    return Heads(uses[0].first.rotary_dim, uses[0].first.rotary_dim)


def _rotated(claim: object, _: Subject) -> int:
    return rotary_dim(claim)  # type: ignore[arg-type]


def layout_of(subject: Subject) -> Layout:
    """The pairs that the weights as stored are meant for: what the model does with them, or its family."""
    if isinstance(attempt(lambda s: s.tensors, subject), GGUFTensors):
        return "interleaved" if subject.config.get("model_type") in PERMUTED else _claimed(subject)
    if isinstance(attempt(lambda s: s.tensors, subject), ModuleTensors):
        return rotary_uses(subject)[0].first.layout
    return _claimed(subject)


def _claimed(subject: Subject) -> Layout:
    found = {claim.options.get("layout") for claim in claims_or_none(subject, "rotary")} - {None}
    if len(found) != 1:
        raise MissingEvidence("neither a config nor a model that runs says which lanes are paired")
    return "half" if found == {"half"} else "interleaved"


@evidence
def reference_subject(subject: Subject) -> Subject:
    """What the caller passed as `reference`, as a subject of its own."""
    if not subject.has("reference"):
        raise MissingEvidence("no reference: pass the model before it was converted or resized, reference=...")
    given = subject.get("reference")
    if isinstance(given, Mapping):
        raise MissingEvidence("the reference is a config; its tensors are needed: pass the folder or the model")
    return given if isinstance(given, Subject) else load_subject(given)


def pairs_of_rows(subject: Subject, other: Subject) -> Iterator[tuple[TensorInfo, Role, Tensor, Tensor]]:
    """Each query and key projection with the rows of the other model's, cut out of a fused one where that is needed."""
    mine, theirs = projections(subject.tensors), projections(other.tensors)
    for (layer, role, kind), info in mine.items():
        rows = _rows(theirs, other.tensors, (layer, role, kind), info.shape[0], mine)
        if role in ("query", "key") and rows is not None:
            own = subject.tensors.load(info.name)
            if rows.shape == own.shape:
                yield info, "query" if role == "query" else "key", own.double(), rows.double()


def _rows(
    theirs: Mapping[Key, TensorInfo], source: TensorSource, key: Key, count: int, mine: Mapping[Key, TensorInfo]
) -> Tensor | None:
    """The rows of one projection: its own tensor, or the part of a fused one that starts where the queries end."""
    layer, role, kind = key
    if key in theirs:
        return source.load(theirs[key].name)
    fused, query = theirs.get((layer, "fused", kind)), mine.get((layer, "query", kind))
    if fused is None or query is None:
        return None
    start = 0 if role == "query" else query.shape[0]
    return source.load(fused.name)[start : start + count]


def arrangement(own: Tensor, other: Tensor, shape: Heads) -> str | None:
    """How `own` rows are made from the `other` ones: "same", gathered to "half" or "interleaved"; None if neither."""
    if own.shape[0] % shape.width:
        return None
    candidates = {how: other[shape.rows_of(how, len(other))] for how in ("same", "half", "interleaved")}
    # Only lanes that move tell arrangements apart; the others agree in all of them.
    moved = (shape.rows_of("half", len(own)) != torch.arange(len(own))).nonzero()[:, 0]
    if not len(moved):
        return None
    alike = {name: _cosine(own[moved], rows[moved]) for name, rows in candidates.items()}
    best, second = sorted(alike.values(), reverse=True)[:2]
    if best < ALIKE or second > UNLIKE:
        return None
    return max(alike, key=lambda how: alike[how])


def _cosine(one: Tensor, other: Tensor) -> float:
    return float(torch.nn.functional.cosine_similarity(one.flatten(), other.flatten(), dim=0))
