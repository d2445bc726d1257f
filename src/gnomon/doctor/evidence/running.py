"""The tables a loaded model computed for itself: rotary frequencies are in no checkpoint, only in the running model."""

from torch import Tensor

from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.subject import Subject
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.doctor.evidence.base import attempt, claims, evidence
from gnomon.doctor.evidence.tables import Table, tables, tables_in


@evidence
def running_tables(subject: Subject) -> tuple[Table, ...]:
    """The stored tables, and the buffers that a model loaded from files holds beside them."""
    module = None if isinstance(attempt(lambda s: s.tensors, subject), ModuleTensors) else attempt(_module, subject)
    built = () if module is None else tables_in(module, claims(subject))
    if not built:
        return tables(subject)
    return (*(attempt(tables, subject) or ()), *built)


class _Buffers(TensorSource):
    """The buffers of a module that no checkpoint holds."""

    def __init__(self, source: ModuleTensors) -> None:
        self._source = source

    def infos(self) -> tuple[TensorInfo, ...]:
        return tuple(i for i in self._source.infos() if i.role == "buffer" and not i.persistent)

    def load(self, name: str) -> Tensor:
        return self._source.load(name)


def _module(subject: Subject) -> _Buffers:
    return _Buffers(ModuleTensors(subject.module))
