"""What a run does: made from plain JSON values, and returns what it measured."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from gnomon.encodings.base import check_options
from gnomon.lab.experiments.context import Context
from gnomon.registry import Registry
from gnomon.report.lab.results import MeasureInfo, Series

registry: Registry[type["Experiment"]] = Registry("experiment", package="gnomon.lab.experiments")


@final
@dataclass(frozen=True)
class Outcome:
    """Series by variant and by the name of the measure; the variant "" is the one that the run is shown as."""

    measured: Mapping[str, Mapping[str, Series]]
    data: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Experiment(ABC):
    """A frozen dataclass over plain JSON values, registered under a name."""

    infos: ClassVar[tuple[MeasureInfo, ...]] = ()  #: what its numbers mean, where they are no registered measure's

    @abstractmethod
    def run(self, context: Context) -> Outcome:
        """Do it. The same options and seed give the same numbers on the same machine."""


def build_experiment(name: str, options: Mapping[str, Any]) -> Experiment:
    """Build an experiment by name; an option that it does not have is an error that lists those it has."""
    cls = registry.get(name)
    check_options(cls, name, options)
    return cls(**options)
