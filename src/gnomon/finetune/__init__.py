"""Fine-tuning the position part of a model: what trains, by how many numbers, and without which decay."""

from gnomon.finetune.freezing import freeze, unfreeze
from gnomon.finetune.groups import parameter_groups
from gnomon.finetune.low_rank import low_rank
from gnomon.finetune.merging import adapter_state, merge
from gnomon.finetune.parameters import position_parameters
from gnomon.finetune.rows import train_rows

__all__ = [
    "adapter_state",
    "freeze",
    "low_rank",
    "merge",
    "parameter_groups",
    "position_parameters",
    "train_rows",
    "unfreeze",
]
