"""Tasks to train on, one file each, found by name in `registry`."""

from gnomon.lab.tasks.base import IGNORED, Batch, Classes, NextToken, Slots, Task, build_task, registry

__all__ = ["IGNORED", "Batch", "Classes", "NextToken", "Slots", "Task", "build_task", "registry"]
