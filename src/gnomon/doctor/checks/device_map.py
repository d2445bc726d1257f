"""PE128: a hand-made device map leaves a part of the model without a device."""

from collections.abc import Iterator, Mapping

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.report.document import Finding, Measured

POSITIONS = ("rotary", "rope", "pos", "wpe", "freq", "alibi")


@check("PE128", "device-map", severity="error", needs=("device_map",))
def device_map(subject: Subject) -> Iterator[Finding | Measured]:
    """The device map names no device for a module that holds tensors.

    Why: a map that was written for an older layout of the model forgets the module of the rotary frequencies, which
    stood in every layer and now stands once beside them. It has no weights, so it is easily overlooked; its buffer
    stays where it was made, and the first forward stops with tensors on two devices, or is moved at every call.

    Fix: add the module that is named to the map, on the device of the first layer, or let `device_map="auto"` make it.

    Sources: transformers issues 35505, 35417 and 35312 (a map without `model.rotary_emb`).
    """
    placed = subject.get("device_map")
    if not isinstance(placed, Mapping):
        raise MissingEvidence(f"device_map is {placed!r}; give the mapping from modules to devices")
    named = tuple(map(str, placed))
    tensors = _tensors(subject)
    left = [name for name in tensors if not any(_covers(key, name) for key in named)]
    yield Measured("tensors without a device", len(left), 0, f"of {len(tensors)}, parameters and buffers")
    for holder in dict.fromkeys(name.rpartition(".")[0] for name in left):
        inside = [name for name in left if name.rpartition(".")[0] == holder]
        of_positions = any(word in inside[0].lower() for word in POSITIONS)
        yield Finding(
            holder or "the model",
            f"{holder or inside[0]} has no device in the map: {', '.join(inside[:3])}",
            f"add {holder or inside[0]!r} to the device map, on the device of the first layer",
            {"tensors": len(inside), "holds positions": of_positions},
        )


def _tensors(subject: Subject) -> list[str]:
    """Parameters and buffers of the model; where it cannot be built, what the files hold."""
    module = attempt(lambda s: s.module, subject)
    if module is None:
        return [info.name for info in subject.tensors.infos()]
    return [name for name, _ in (*module.named_parameters(), *module.named_buffers())]


def _covers(key: str, name: str) -> bool:
    return key == "" or name == key or name.startswith(key + ".")
