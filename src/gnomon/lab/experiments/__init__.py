"""What a run does, one file each, found by name in `registry`."""

from gnomon.lab.experiments.base import Experiment, Outcome, build_experiment, registry
from gnomon.lab.experiments.context import Context

__all__ = ["Context", "Experiment", "Outcome", "build_experiment", "registry"]
