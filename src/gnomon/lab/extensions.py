"""Runs that extend the context of rotary models: over text, and over strings to copy, which is retrieval alone."""

from dataclasses import dataclass
from typing import Any, Final, final

from gnomon.lab.panels import COPY, EXACT, TOKENS
from gnomon.lab.suites.base import Size
from gnomon.report.lab.results import Run

NONE, LINEAR, NTK, BY_PARTS, YARN = "none", "linear", "ntk", "by parts", "yarn"
METHODS: Final = (NONE, LINEAR, NTK, BY_PARTS, YARN)
PERPLEXITY, LAST = "perplexity", "last_k_perplexity"
TUNED = "tuned"  #: how the experiment `extend` names what was trained on after it was extended


def rules(factor: float, trained: int, fast: float = 8.0) -> dict[str, dict[str, Any]]:
    """The rules by name. The ramp of the last two goes from 1 turn to `fast`: few pairs turn 32 times in short rows."""
    ramp = {"factor": factor, "original_max_length": trained, "beta_fast": fast, "beta_slow": 1.0}
    return {
        NONE: {"kind": "plain"},
        LINEAR: {"kind": "linear", "factor": factor},
        NTK: {"kind": "ntk", "factor": factor},
        BY_PARTS: {"kind": "by_parts", **ramp},
        YARN: {"kind": "yarn", **ramp},
    }


@final
@dataclass(frozen=True)
class Extension:
    """A model over text, extended from rows of `length` to 4 times as much; perplexity is taken at 1, 2 and 4 times."""

    corpus: str
    length: int
    steps: int
    tuning: int  #: steps
    last: int = 32

    def run(self, seed: int) -> Run:
        lengths = [self.length, 2 * self.length, 4 * self.length]
        train = {
            "task": {"task": "characters", "corpus": self.corpus},
            "lengths": [self.length, self.length],
            "model": {
                "dim": 64,
                "num_layers": 3,
                "num_heads": 2,
                "embedding_scale": "sqrt_dim",
                "encoding": {"encoding": "rotary"},
            },
            "training": {"steps": self.steps, "batch_size": 16, "learning_rate": 3e-3},
            "measures": [
                {"measure": PERPLEXITY, "lengths": lengths, "total": 15360},
                {"measure": LAST, "lengths": lengths, "last": self.last, "rows": 64},
            ],
        }
        tuning = {
            "lengths": [lengths[-1], lengths[-1]],
            "training": {"steps": self.tuning, "batch_size": 16, "learning_rate": 1e-3, "warmup": 10},
        }
        options = {"train": train, "methods": rules(4.0, self.length), "tuning": tuning}
        return Run("extend", self.corpus, NONE, seed, options)


@final
@dataclass(frozen=True)
class Copying:
    """A model that copies strings, which is retrieval and nothing else, extended to three times as long strings."""

    symbols: int
    longest: int
    steps: int
    tuning: int

    @property
    def lengths(self) -> list[int]:
        return [self.longest, 2 * self.longest, 3 * self.longest]

    def run(self, seed: int) -> Run:
        train = {
            "task": {"task": "copy", "symbols": self.symbols},
            "lengths": [1, self.longest],
            "model": {"dim": 64, "num_layers": 2, "num_heads": 2, "encoding": {"encoding": "rotary"}},
            "training": {"steps": self.steps, "batch_size": 64, "learning_rate": 3e-3},
            "measures": [{"measure": name, "lengths": self.lengths, "rows": 400} for name in (EXACT, TOKENS)],
        }
        tuning = {
            "lengths": [1, 3 * self.longest],
            "training": {"steps": self.tuning, "batch_size": 64, "learning_rate": 1e-3, "warmup": 10},
        }
        options = {"train": train, "methods": rules(3.0, 2 * self.longest + 2), "tuning": tuning}
        return Run("extend", COPY, NONE, seed, options)


TEXTS: Final[dict[Size, tuple[Extension, ...]]] = {
    "quick": (Extension("stdlib", length=64, steps=800, tuning=60),),
    "full": (
        Extension("stdlib", length=128, steps=1500, tuning=80),
        Extension("austen", length=128, steps=1500, tuning=80),
    ),
}
COPIES: Final[dict[Size, Copying]] = {"quick": Copying(15, 5, 800, 60), "full": Copying(30, 10, 2500, 100)}


SMOLLM2: Final = "SmolLM2-135M"
SHORT, LONG = 1024, 10240  #: tokens; the model was trained on 8,192


def pretrained(seed: int) -> Run:
    """SmolLM2 extended to twice its trained length, with the ramp of the authors. Seeds differ in the text alone."""
    methods = {name: {**rule, "base": 1e5} for name, rule in rules(2.0, 8192, fast=32.0).items()}
    return Run("extend_pretrained", SMOLLM2, NONE, seed, {"methods": methods, "lengths": [SHORT, LONG], "last": 256})
