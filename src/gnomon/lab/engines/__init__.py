"""Ways to do a list of independent runs: on this machine, by all processes of `torchrun`, or on a Ray cluster."""

from gnomon.lab.engines.base import Engine, Progress, Silent
from gnomon.lab.engines.choice import choose
from gnomon.lab.engines.sweep import Standing

__all__ = ["Engine", "Progress", "Silent", "Standing", "choose"]
