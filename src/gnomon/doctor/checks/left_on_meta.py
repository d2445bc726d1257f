"""PE605: tensors of a loaded model that are still on the meta device."""

from collections.abc import Iterator

from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.report.document import Finding, Measured


@check("PE605", "left-on-meta", severity="error", needs=("tensors",))
def left_on_meta(subject: Subject) -> Iterator[Finding | Measured]:
    """Some tensors of the model have values and others are still on the meta device, which has none.

    Why: loaders that save memory build a model on the meta device and fill what the checkpoint holds. Tables that are
    not in it stay without values, and the first forward fails or, after `to_empty`, reads whatever was in memory.

    Fix: give those buffers their values after loading: compute them from the config, on the device of the weights.

    Sources: transformers 25555, deepspeed's and accelerate's loaders in transformers 45402 and 45902.
    """
    source = subject.tensors
    if not isinstance(source, ModuleTensors):
        raise MissingEvidence("a file holds values for all its tensors; only a module in memory can lack some")
    infos = source.infos()
    empty = [info for info in infos if not _has_values(source, info.name)]
    if infos and len(empty) == len(infos):
        raise MissingEvidence("the whole module is on the meta device; load its weights first")
    yield Measured("tensors without values", len(empty), 0, f"of {len(infos)}; the meta device holds shapes only")
    for info in empty:
        yield Finding(
            info.name,
            f"the {info.role if info.role != 'unknown' else 'plain attribute'} {info.name} {info.shape} has no values:"
            " it is on the meta device",
            f"set {info.name} from the config after loading, on the device of the weights",
            {"shape": list(info.shape)},
        )


def _has_values(source: ModuleTensors, name: str) -> bool:
    try:
        source.load(name)
    except MissingEvidence:
        return False
    return True
