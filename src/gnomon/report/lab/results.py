"""One run of the lab and what it measured, as plain data."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

#: Part of every key: raised when the same options would mean another computation, so that old results are not taken.
GENERATION = 1
Better = Literal["higher", "lower"]
Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class MeasureInfo:
    """What a measure's numbers mean: for titles, axes and the order of a ranking."""

    name: str
    title: str
    unit: str = ""
    axis: str = ""  #: what `Series.at` counts, as in "length"; empty: the measure is one number
    better: Better | None = None  #: None: neither end is good
    scale: Scale = "linear"  #: "log": numbers differ by ratios, as perplexities do, so rankings compare logarithms


@dataclass(frozen=True)
class Series:
    """Numbers along one axis, or one number without an axis. None: it could not be measured there, and `why` says why.

    >>> Series.number(0.5).values
    (0.5,)
    >>> Series((64, 128), (1.0, None), why="the table ends at 64").value(128) is None
    True
    """

    at: tuple[float, ...]
    values: tuple[float | None, ...]
    why: str = ""

    @classmethod
    def number(cls, value: float | None, why: str = "") -> Self:
        """A measure that is one number."""
        return cls((), (value,), why)

    def value(self, at: float | None = None) -> float | None:
        """The number at one place of the axis (None: the only number); None where there is none."""
        places = self.at or (None,)
        return self.values[places.index(at)] if at in places else None

    def to_dict(self) -> dict[str, Any]:
        return {"at": list(self.at), "values": list(self.values), **({"why": self.why} if self.why else {})}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        return cls(tuple(fields["at"]), tuple(fields["values"]), fields.get("why", ""))


@dataclass(frozen=True)
class Run:
    """One thing to do: an experiment with its options and one seed. `group` and `variant` say where it is shown.

    A group is a panel (a task, a condition); a variant is a line in it (an encoding, a method).

    >>> run = Run("train", group="copy", variant="rotary", seed=0, options={"steps": 10})
    >>> run.key == Run("train", group="other", variant="words", seed=0, options={"steps": 10}).key
    True
    """

    experiment: str
    group: str
    variant: str
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Equal for runs that compute the same, wherever they are shown."""
        told = {"generation": GENERATION, "experiment": self.experiment, "seed": self.seed, "options": self.options}
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:20]

    @property
    def name(self) -> str:
        """In a line of text, as in "copy rotary seed 0"."""
        return " ".join(filter(None, (self.group, self.variant, f"seed {self.seed}")))

    def to_dict(self) -> dict[str, Any]:
        return {
            "experiment": self.experiment,
            "group": self.group,
            "variant": self.variant,
            "seed": self.seed,
            "options": dict(self.options),
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        return cls(**{name: fields[name] for name in ("experiment", "group", "variant", "seed", "options")})


@dataclass(frozen=True)
class Result:
    """What one run measured: series by variant and by the name of the measure.

    Most runs measure their own variant. One that trains once and then tries several methods measures several.
    """

    run: Run
    measured: Mapping[str, Mapping[str, Series]]
    seconds: float
    environment: Mapping[str, str] = field(default_factory=dict)  #: versions, device, threads
    data: Mapping[str, str] = field(default_factory=dict)  #: checksum of each data set that was read
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "run": self.run.to_dict(),
            "measured": {
                variant: {name: series.to_dict() for name, series in by_name.items()}
                for variant, by_name in self.measured.items()
            },
            "seconds": round(self.seconds, 3),
            "environment": dict(self.environment),
            "data": dict(self.data),
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        measured = {
            variant: {name: Series.from_dict(series) for name, series in by_name.items()}
            for variant, by_name in fields["measured"].items()
        }
        return cls(
            run=Run.from_dict(fields["run"]),
            measured=measured,
            seconds=fields["seconds"],
            environment=fields["environment"],
            data=fields["data"],
            notes=tuple(fields["notes"]),
        )


def seconds_of(results: Iterable[Result]) -> float:
    """What runs took one after another; a run that is shown in several places counts once."""
    return sum({result.run.key: result.seconds for result in results}.values())
