"""What is measured on a trained model, one file each, found by name in `registry`."""

from gnomon.lab.measures.base import Measure, Trained, build_measure, registry

__all__ = ["Measure", "Trained", "build_measure", "registry"]
