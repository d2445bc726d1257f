"""Tables of positions among a subject's tensors: found by the config's word, by name, and by their numbers."""

import math
import re
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from gnomon.adapters.claims import Claim
from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.position_names import is_table_name
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.doctor.evidence.base import attempt, claims, evidence
from gnomon.doctor.evidence.patch_grids import PatchGrid, patch_grid_of
from gnomon.doctor.evidence.sinusoid import Sinusoid, fit_sinusoid
from gnomon.doctor.evidence.trace import trace

Kind = Literal["learned", "sinusoidal", "frequencies", "angles"]
FREQUENCY_NAME = re.compile(r"(inv_?freqs?|rotary\w*freqs?)(\.weight)?$", re.IGNORECASE)
ORIGINAL_NAME = re.compile(r"original_inv_freq$")
WORD_NAME = re.compile(
    r"(word_?embedd?ings?|(^|[._])words?([._]|$)|embed_tokens|tok(en)?_?emb\w*|wte|embed_in|token_embd|tokens?\.table)",
    re.I,
)
ROTARY_NAME = re.compile(r"rotary|rope|(^|[._])(cos|sin|freqs)([._]|$)", re.IGNORECASE)
ADDED = ("learned", "sinusoidal")  # claims of vectors that are added, one a position
FIRST = 8  # rows among which a padding row is looked for
LOOSE = 0.2  # residual of a fit, relative to the table, above which an unnamed tensor is no sinusoid table
MOST_NUMBERS = 32_000_000  # in one table; larger ones are left unread
MOST_FITTED = 1_000_000  # numbers of a table that is fitted without a look at the lengths of its rows
POOR = 0.1  # residual of a fit, beyond which another reading is tried
SAMPLED = 64  # rows or columns of that look


@dataclass(frozen=True)
class Table:
    """A table (rows, dims) or a row of frequencies (1, pairs), as float64; "angles": cached sines and cosines.

    `sinusoid` describes it when its numbers are sinusoids; `transposed` says that they are, with the axes swapped.
    `reserved` rows come before position 0 (padding): as the config says, else as the zeros of a padding row show.
    """

    name: str
    info: TensorInfo
    kind: Kind
    values: Float64[np.ndarray, "rows dims"]
    claim: Claim | None = None
    sinusoid: Sinusoid | None = None
    transposed: bool = False
    reserved: int = 0
    grid: PatchGrid | None = None  #: of the patches that its halves tell the rows and columns of

    def used(self) -> Float64[np.ndarray, "rows dims"]:
        """The rows that positions use."""
        return self.values[self.reserved :]


@evidence
def tables(subject: Subject) -> tuple[Table, ...]:
    """Every table of positions; raises MissingEvidence when there is none to examine.

    In a module without one by name or numbers, the table that a forward looks up with 0, 1, 2, ... is it.
    """
    source = subject.tensors
    found = tables_in(source, claims(subject))
    if not found and isinstance(source, ModuleTensors):
        found = tables_in(source, claims(subject), counted=_counted(subject))
    if not found:
        raise MissingEvidence("no table of positions among the tensors")
    if isinstance(source, ModuleTensors) and any(table.kind == "sinusoidal" for table in found):
        return tuple(_as_used(table, subject) for table in found)
    return found


def _as_used(table: Table, subject: Subject) -> Table:
    """Cosines and sines as wide as what a forward rotates are that rotation's, whatever they are called."""
    seen = attempt(trace, subject)
    widths = {rotation.rotary_dim for rotation in seen.rotations} if seen else set()
    is_cache = table.kind == "sinusoidal" and table.claim is None and table.values.shape[1] in widths
    return replace(table, kind="angles") if is_cache else table


def tables_in(
    source: TensorSource, stated: tuple[Claim, ...], counted: frozenset[str] = frozenset()
) -> tuple[Table, ...]:
    """The tables of positions in one source; `counted` are tensors known to be tables whatever they are called."""
    found = (_table(source, info, stated, is_table=info.name in counted) for info in source.infos())
    return tuple(table for table in found if table is not None)


def _counted(subject: Subject) -> frozenset[str]:
    """Tables whose rows are taken in order along the sequence, whatever the tokens are."""
    seen = attempt(trace, subject)
    if seen is None:
        return frozenset()
    places = torch.arange(seen.length)
    lookups = ((x.table, x.rows) for x in seen.lookups if x.rows.shape[-1:] == (seen.length,))
    # From one start in every row: an index of offsets, key less query, begins each row one lower.
    return frozenset(name for name, rows in lookups if bool((rows - rows.flatten()[0] == places.to(rows)).all()))


@evidence
def position_tables(subject: Subject) -> tuple[Table, ...]:
    """The tables of vectors that are added, one row a position: no frequencies, no cached angles of a rotation."""
    found = tuple(t for t in tables(subject) if t.kind in ("learned", "sinusoidal"))
    if not found:
        raise MissingEvidence("no table with a vector for each position (rotary numbers only)")
    return found


@evidence
def word_table(subject: Subject) -> TensorInfo:
    """The token embedding table, from its name and size; not loaded."""
    named = [i for i in subject.tensors.infos() if WORD_NAME.search(i.name) and len(i.shape) == 2]
    if not named:
        raise MissingEvidence("no token embedding table by a name the field uses")
    return max(named, key=lambda info: max(info.shape))


def is_position_name(name: str, stated: tuple[Claim, ...]) -> bool:
    """Whether a tensor of this name should hold a table of positions, by the claims or by the names the field uses."""
    if any(re.search(pattern, name) for claim in stated for pattern in claim.table_names):
        return True
    return is_table_name(name)


def _table(source: TensorSource, info: TensorInfo, stated: tuple[Claim, ...], *, is_table: bool) -> Table | None:
    claim = next((c for c in stated if any(re.search(p, info.name) for p in c.table_names)), None)
    if not _is_float(info) or not 0 < int(np.prod(info.shape)) <= MOST_NUMBERS:
        return None
    if claim is not None and claim.kind not in (*ADDED, "rotary"):
        return None  # relative biases and the like: no vector for each position
    if FREQUENCY_NAME.search(info.name) and sum(n > 1 for n in info.shape) <= 1:
        return None if ORIGINAL_NAME.search(info.name) else _frequencies(source, info, claim)
    named = is_table or claim is not None or is_position_name(info.name, ())
    if sum(n > 1 for n in info.shape) != 2 or not (named or info.role != "unknown" or not info.persistent):
        return None
    stored = source.load(info.name)
    if not named and not _may_turn(stored.reshape(_two_axes(info))):
        return None
    values = _matrix(stored, info)
    even = values.size <= MOST_FITTED or _may_turn(stored.reshape(values.shape))
    fit = fit_sinusoid(values) if even else None
    turned = fit_sinusoid(values.T) if even and fit is None else None
    found = fit or turned
    grid = patch_grid_of(values) if found is None or found.residual > POOR else None
    if grid is not None:
        fit = turned = None
    elif not named and (found is None or found.residual > LOOSE):
        return None
    kind = _kind(info, claim, stated, is_sinusoid=any((fit, turned, grid)))
    reserved = int(claim.options.get("padding_offset", 0)) if claim else _padding_rows(values, fit)
    return Table(info.name, info, kind, values, claim, fit or turned, turned is not None, reserved, grid)


def _kind(info: TensorInfo, claim: Claim | None, stated: tuple[Claim, ...], *, is_sinusoid: bool) -> Kind:
    """A sinusoid table in a model that claims no added vectors holds the angles of its rotation (GPT-J, RoFormer)."""
    claims_added = any(c.kind in ADDED for c in ([claim] if claim else stated))
    if ROTARY_NAME.search(info.name) or (claim and not claims_added) or (is_sinusoid and stated and not claims_added):
        return "angles"
    return "sinusoidal" if is_sinusoid or (claim and claim.kind == "sinusoidal") else "learned"


def _padding_rows(values: Float64[np.ndarray, "rows dims"], fit: Sinusoid | None) -> int:
    """Rows up to a padding row of zeros, as fairseq and RoBERTa keep: positions start after it.

    A zero row 0 of a learned table is not taken for one: there the usual reason is a padding_idx given by mistake.
    """
    zero = np.flatnonzero(~values[:FIRST].any(axis=1))
    padding = int(zero[0]) if len(zero) == 1 else -1
    return padding + 1 if padding == 1 or (padding == 0 and fit is not None) else 0


def _frequencies(source: TensorSource, info: TensorInfo, claim: Claim | None) -> Table | None:
    values = source.load(info.name).double().numpy().reshape(1, -1)
    return Table(info.name, info, "frequencies", values, claim)


def _matrix(stored: Tensor, info: TensorInfo) -> Float64[np.ndarray, "rows dims"]:
    values: Float64[np.ndarray, "rows dims"] = stored.double().numpy()
    return values.reshape(_two_axes(info))


def _two_axes(info: TensorInfo) -> list[int]:
    return [n for n in info.shape if n > 1]


def _may_turn(table: Tensor) -> bool:
    """Whether some rows, or some columns, have about one length, as in a sinusoid table: cheap, whatever the size.

    The median forgives rows that something has overwritten; a large matrix of weights is never copied for this.
    """
    for axis in (0, 1):
        step = max(1, table.shape[axis] // SAMPLED)
        some = table[::step] if axis == 0 else table[:, ::step]
        lengths = some.double().norm(dim=1 - axis)
        middle = lengths.median()
        even = min(0.02, 0.15 / math.sqrt(table.shape[1 - axis]))  # the lengths of noise differ by three times that
        if middle > 0 and bool((lengths - middle).abs().median() <= even * middle):
            return True
    return False


def _is_float(info: TensorInfo) -> bool:
    return not re.match(r"u?int|bool|complex|I\d+$", info.dtype, re.IGNORECASE)
