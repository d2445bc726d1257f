"""Which kind each layer is, where a config says so: sliding and full layers have claims of their own."""

import re
from collections.abc import Mapping

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.rotary import RotaryUse


def layer_kinds(subject: Subject) -> Mapping[int, str]:
    """The kind of each layer from the config's `layer_types`; empty where it has none."""
    stated = (attempt(lambda s: s.config, subject) or {}).get("layer_types")
    return dict(enumerate(map(str, stated))) if isinstance(stated, list | tuple) else {}


def claims_for(use: RotaryUse, claims: tuple[Claim, ...], kinds: Mapping[int, str]) -> tuple[Claim, ...]:
    """The claims for the kinds of layer that a rotation was seen in; all of them where that cannot be told."""
    numbers = {int(found[-1]) for path in use.paths if (found := re.findall(r"(?<=\.)\d+(?=\.|$)", path))}
    seen = {kinds[number] for number in numbers if number in kinds}
    fitting = tuple(claim for claim in claims if claim.where in seen)
    return fitting if len(seen) == 1 and fitting else claims
