"""PE223: two copies of the same frequencies in one model are not equal."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.tensors import TensorSource
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.expected import angles_follow_positions, claims_or_none, place
from gnomon.doctor.evidence.layer_kinds import layer_kinds
from gnomon.doctor.evidence.tables import FREQUENCY_NAME
from gnomon.report.document import Finding, Measured

LIMIT = 1e-4  # relative; float32 holds a frequency to 1e-7, bfloat16 only to 4e-3
FURTHEST = 2**20  # a position beyond every regime of a scaling rule


@check("PE223", "frequencies-disagree", severity="error", needs=("tensors",))
def frequencies_disagree(subject: Subject) -> Iterator[Finding | Measured]:
    """The frequencies of two layers, or the ones in use and the kept originals, differ where they should be equal.

    Why: rotary modules keep their frequencies more than once: a copy for each layer, and an original beside the one in
    use, to go back to after long inputs. A cast, a partial load or an update in place reaches one copy and not the
    other. Then layers rotate differently, or the model changes for good after its first long input.

    Fix: build all copies from the config after loading and casting, in float32; restore the one in use from the
    original at the start of each short input.

    Sources: transformers pull request 35255 (frequencies in the files of every layer), issues 25681 and 45902 (copies
    that a cast or a load from the meta device reached one by one).
    """
    groups = {where: copies for where, copies in _groups(subject).items() if len(copies) > 1}
    if not groups:
        raise MissingEvidence("no frequencies that are kept more than once")
    for where, copies in groups.items():
        first, *others = copies.items()
        errors = {name: _error(values, first[1]) for name, values in others}
        worst = max(errors, key=lambda name: errors[name])
        yield Measured(f"largest difference between copies of {where}", errors[worst], LIMIT, f"{len(copies)} copies")
        if not errors[worst] <= LIMIT:
            yield Finding(
                worst,
                f"it differs from {first[0]} by up to {errors[worst]:.2g} (relative): one of the two was changed",
                "build both from the config after loading and casting, in float32",
                {"difference": errors[worst], "other": first[0]},
            )


def _groups(subject: Subject) -> Mapping[str, dict[str, Float64[np.ndarray, " pairs"]]]:
    """Frequencies that should be equal: of the layers of one kind, and each with its original."""
    source = attempt(_source, subject)
    if source is None:
        raise MissingEvidence("no frequencies among the tensors")
    one_kind = len(claims_or_none(subject, "rotary")) <= 1 and len(set(layer_kinds(subject).values())) <= 1
    fixed = angles_follow_positions(subject, FURTHEST)
    found: dict[str, dict[str, Float64[np.ndarray, " pairs"]]] = defaultdict(dict)
    for info in source.infos():
        if not FREQUENCY_NAME.search(info.name) or sum(n > 1 for n in info.shape) != 1:
            continue
        original = "original_" in info.name
        group = re.sub("original_", "", info.name) if fixed else info.name
        if one_kind and not original:
            found[place(info.name)][info.name] = _values(source, info.name)
        if fixed:
            found[group][info.name] = _values(source, info.name)
    return found


def _source(subject: Subject) -> TensorSource:
    """The model in memory, or what its files hold."""
    built = attempt(lambda s: ModuleTensors(s.module), subject)
    held = subject.tensors
    has = any(FREQUENCY_NAME.search(info.name) for info in held.infos())
    return held if has or built is None else built


def _values(source: TensorSource, name: str) -> Float64[np.ndarray, " pairs"]:
    values: Float64[np.ndarray, " pairs"] = source.load(name).double().numpy().ravel()
    return values


def _error(one: Float64[np.ndarray, " pairs"], other: Float64[np.ndarray, " pairs"]) -> float:
    if one.shape != other.shape:
        return float("inf")
    return float((np.abs(one - other) / np.maximum(np.abs(other), 1e-30)).max())
