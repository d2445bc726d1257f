"""The model types that gnomon knows as turning queries and keys, in every case of their configs or in one."""

from gnomon.adapters.families import ENTRIES
from gnomon.adapters.families.rotary_rule import Rotation
from gnomon.adapters.families.rules import Rule, Switch
from gnomon.resolving.readers.transformers5.classes import OTHERS


def _turns(rules: tuple[Rule, ...]) -> bool:
    inner = [rule for switch in rules if isinstance(switch, Switch) for case in switch.cases.values() for rule in case]
    return any(isinstance(rule, Rotation) for rule in (*rules, *inner))


TURNING = sorted({*(name for entry in ENTRIES if _turns(entry.rules) for name in entry.family.model_types), *OTHERS})
