"""The advisor: from a description of a model and its data to a ranked recommendation, with every sum and source shown.

>>> from gnomon.advisor import advise
>>> advise("pairs", trained=256).best.encoding
'rotary'
"""

from gnomon.advisor.advising import advise
from gnomon.advisor.description import Checkpoint, Description, Setting
from gnomon.advisor.engine import answer
from gnomon.advisor.lengths import Lengths
from gnomon.advisor.measured import MeasuredFact, read_measured
from gnomon.advisor.rule import Rule, rules_in_order
from gnomon.advisor.sizes import ModelSizes
from gnomon.advisor.task import Device, Limit, Need, Task

__all__ = [
    "Checkpoint",
    "Description",
    "Device",
    "Lengths",
    "Limit",
    "MeasuredFact",
    "ModelSizes",
    "Need",
    "Rule",
    "Setting",
    "Task",
    "advise",
    "answer",
    "read_measured",
    "rules_in_order",
]
