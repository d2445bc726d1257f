"""PE218: the position table is the table of the words."""

from collections.abc import Iterator

import numpy as np
import torch

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.doctor.check import check
from gnomon.doctor.evidence.tables import Table, is_position_name, position_tables
from gnomon.report.document import Finding, Measured


@check("PE218", "shared-table", severity="error", needs=(position_tables, "tensors"))
def shared_table(subject: Subject) -> Iterator[Finding | Measured]:
    """A position table holds the same numbers as another table of the model, such as that of the words.

    Why: weights are tied by assignment, and a loop that ties everything of one shape, or a slip in a name, ties the
    positions to the words: position 7 then means the same as word 7, and training pulls one vector both ways. Only
    tables of equal shape can be mixed up, as where a small vocabulary is as large as the longest text.

    Fix: give the table a parameter of its own; tie only the output matrix to the words.

    Sources: Press and Wolf 2017, arXiv:1608.05859, for the tying that is meant.
    """
    source = subject.tensors
    judged = False
    for table in position_tables(subject):
        if not np.isfinite(table.values).all() or not np.ptp(table.values, axis=0).any():
            continue
        judged = True
        others = [i for i in source.infos() if _comparable(i, table)]
        equal = [info.name for info in others if _same(source, info, table)]
        yield Measured(f"tables equal to {table.name}", len(equal), 0, f"of {len(others)} of its shape")
        for name in equal:
            yield Finding(
                table.name,
                f"the table holds the numbers of {name}: positions and words are one table",
                f"give the positions a parameter of their own, and draw it anew (std 0.02); tie {name} to no table "
                "of positions",
                {"tied to": name},
            )
    if not judged:
        raise MissingEvidence("no table that varies and is finite")


def _comparable(info: TensorInfo, table: Table) -> bool:
    """Another table of the same shape, that is no table of positions itself: those may be shared between stacks."""
    return info.shape == table.info.shape and info.name != table.name and not is_position_name(info.name, ())


def _same(source: TensorSource, info: TensorInfo, table: Table) -> bool:
    if info.dtype != table.info.dtype:
        return False
    try:
        return torch.equal(source.load(info.name), source.load(table.name))
    except MissingEvidence:
        return False
