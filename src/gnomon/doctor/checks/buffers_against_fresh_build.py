"""PE604: fixed tables in buffers that are not those of a fresh build."""

from collections.abc import Iterator

import torch
from torch import Tensor

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import claims
from gnomon.doctor.evidence.deployment.fresh import FixedTable, fixed_tables
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.thresholds import HALF_TABLE
from gnomon.report.document import Finding, Measured, Severity

#: rules whose frequencies a forward replaces once an input is longer than the model was trained on
FOLLOW_THE_LENGTH = ("dynamic", "dynamic_yarn", "longrope")


@check("PE604", "buffers-against-fresh-build", severity="error", needs=("module", fixed_tables))
def buffers_against_fresh_build(subject: Subject) -> Iterator[Finding | Measured]:
    """A table that every fresh build of this class holds the same holds something else here.

    Why: such tables follow from the config alone. Loaders that walk parameters only, `to_empty`, sharded loads and
    copies of `named_parameters` leave them as memory was, as zeros, or as another model's; nothing fails, since no
    checkpoint holds them.

    Fix: build the module, then load; or copy the buffers of a fresh build into it. Walk `named_buffers` as well.

    Sources: transformers 34234, 45902 and 45402, Bacformer 33, executorch 19627.
    """
    tables = fixed_tables(subject)
    for table in tables:
        apart = _apart(table)
        yield Measured(f"difference of {table.name} from a fresh build", apart, HALF_TABLE.value, HALF_TABLE.why)
        if apart > HALF_TABLE.value:
            yield _finding(table, apart, "warning" if _follows_the_length(subject) else "error")


def _apart(table: FixedTable) -> float:
    """0 for equal tables; infinite for one that is NaN where a fresh one is not, or has another shape."""
    here, fresh = _real(table.here), _real(table.fresh)
    if here.shape != fresh.shape or not torch.equal(here.isfinite(), fresh.isfinite()):
        return float("inf")
    return difference(here[here.isfinite()], fresh[fresh.isfinite()]) if bool(here.isfinite().any()) else 0.0


def _real(values: Tensor) -> Tensor:
    return torch.view_as_real(values) if values.is_complex() else values


def _finding(table: FixedTable, apart: float, severity: Severity) -> Finding:
    here, fresh = _few(table.here), _few(table.fresh)
    owner, _, own = table.name.rpartition(".")
    return Finding(
        table.name,
        f"holds {here}, ...; a fresh build of the class holds {fresh}, ...",
        f"copy {own} of {owner or 'the module'} from a fresh build: parameters were loaded, buffers were not",
        {"difference": apart, "right values": fresh},
        severity,
    )


def _few(values: Tensor) -> str:
    numbers = values.real if values.is_complex() else values
    return ", ".join(f"{float(v):.4g}" for v in numbers.flatten()[:4])


def _follows_the_length(subject: Subject) -> bool:
    kinds = [claim.options.get("frequencies") for claim in claims(subject)]
    return any(isinstance(kind, dict) and kind.get("kind") in FOLLOW_THE_LENGTH for kind in kinds)
