"""Which kind each layer is, where a config says so: sliding and full layers have claims of their own."""

import re
from collections.abc import Iterable, Mapping

from gnomon.adapters.claims import Claim
from gnomon.adapters.families.places import Place
from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.expected import claims_or_none
from gnomon.doctor.evidence.rotary import RotaryUse

NUMBER = re.compile(r"(?<![^.])\d+(?=\.|$)")  #: a part of a module's path that is a number


def layer_kinds(subject: Subject) -> Mapping[int, str]:
    """The kind of each layer from the config's `layer_types`; empty where it has none."""
    stated = (attempt(lambda s: s.config, subject) or {}).get("layer_types")
    return dict(enumerate(map(str, stated))) if isinstance(stated, list | tuple) else {}


def layers_of(use: RotaryUse) -> frozenset[int]:
    """The numbers of the layers that a rotation was seen in."""
    numbers = (re.findall(r"(?<=\.)\d+(?=\.|$)", path) for path in use.paths)
    return frozenset(int(found[-1]) for found in numbers if found)


def layers_without_positions(subject: Subject) -> frozenset[int]:
    """The layers that the config says have no positions: named one by one, or by their kind."""
    kinds = layer_kinds(subject)
    bare: set[int] = set()
    for claim in claims_or_none(subject, "nope"):
        place = Place.of(claim.where)
        bare |= place.layers or set()
        bare |= {number for number, kind in kinds.items() if kind == place.kind}
    return frozenset(bare)


def claims_for(use: RotaryUse, claims: tuple[Claim, ...], kinds: Mapping[int, str]) -> tuple[Claim, ...]:
    """The claims for the kinds of layer that a rotation was seen in; all of them where that cannot be told."""
    seen = {kinds[number] for number in layers_of(use) if number in kinds}
    fitting = tuple(claim for claim in claims if claim.where in seen)
    return fitting if len(seen) == 1 and fitting else claims


def numbered(paths: Iterable[str]) -> dict[str, tuple[str, int]]:
    """For each path the stack it is in and its number there; paths without a number are left out.

    Of several numbers in a path, that counts which differs most among the paths: in T5's block.3.layer.0 the first.

    >>> numbered(["block.0.layer.0", "block.0.layer.1", "block.1.layer.0", "block.2.layer.0"])["block.2.layer.0"]
    ('block', 2)
    """
    split = {path: [(found.start(), int(found.group())) for found in NUMBER.finditer(path)] for path in paths}
    split = {path: numbers for path, numbers in split.items() if numbers}
    depth = max((len(numbers) for numbers in split.values()), default=0)
    kinds = [len({numbers[level][1] for numbers in split.values() if level < len(numbers)}) for level in range(depth)]
    level = kinds.index(max(kinds)) if kinds else 0
    at = {path: numbers[min(level, len(numbers) - 1)] for path, numbers in split.items()}
    return {path: (path[:start].rstrip("."), number) for path, (start, number) in at.items()}
