"""Which kind each layer is, where a config says so: sliding and full layers have claims of their own."""

import re
from collections.abc import Mapping

from gnomon.adapters.claims import Claim
from gnomon.adapters.families.places import Place
from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.expected import claims_or_none
from gnomon.doctor.evidence.rotary import RotaryUse


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
