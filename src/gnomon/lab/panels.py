"""A generated task, the ways to place positions in it, and the lengths at which answers are scored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from gnomon.lab.recipes import causal_encodings
from gnomon.report.lab.results import Run

EXACT, TOKENS = "exact_match", "token_accuracy"
FIXED, COPY, REVERSE = "the symbol two slots before", "unique copy", "reverse at query slots"
SORT, ADDITION, PARITY = "sort", "addition, units first", "parity"
OFFSET, RANDOM = "random offset", "random positions"


@final
@dataclass(frozen=True)
class Placed:
    """An encoding, and where its positions come from in training; the fields of `Train`."""

    encoding: Mapping[str, Any]
    placing: Mapping[str, Any] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class Panel:
    """One group of a study. `trained` is the shortest and the longest row of training, `tested` the scored lengths."""

    group: str
    task: Mapping[str, Any]
    trained: tuple[int, int]
    tested: tuple[int, ...]
    sizes: Mapping[str, Any]
    training: Mapping[str, Any]
    variants: Mapping[str, Placed]
    measures: tuple[str, ...] = (TOKENS,)
    rows: int = 400
    more: tuple[Mapping[str, Any], ...] = ()  #: measures that need no lengths

    def run(self, variant: str, seed: int) -> Run:
        placed = self.variants[variant]
        by_length = [{"measure": name, "lengths": list(self.tested), "rows": self.rows} for name in self.measures]
        options: dict[str, Any] = {
            "task": dict(self.task),
            "lengths": list(self.trained),
            "model": {**self.sizes, "encoding": dict(placed.encoding)},
            "training": dict(self.training),
            "measures": [*by_length, *(dict(each) for each in self.more)],
        }
        if placed.placing:
            options["placing"] = dict(placed.placing)
        return Run("train", self.group, variant, seed, options)

    def runs(self, seeds: Sequence[int]) -> list[Run]:
        return [self.run(variant, seed) for variant in self.variants for seed in seeds]


def fixed_offset() -> Panel:
    """One layer and a string of bits: the cheapest thing that tells the families apart (after Barbero et al. 2024)."""
    encodings = {name: Placed(each) for name, each in causal_encodings(64).items()}
    encodings["learned"] = Placed({"encoding": "learned", "max_length": 128})
    offset = {"kind": "offset", "limit": 128}
    return Panel(
        FIXED,
        {"task": "fixed_offset", "offset": 2, "symbols": 2},
        trained=(32, 32),
        tested=(32, 64, 128),
        sizes={"dim": 32, "num_layers": 1, "num_heads": 2},
        training={"steps": 600, "batch_size": 32, "learning_rate": 3e-3},
        variants={
            **encodings,
            f"learned, {OFFSET}": Placed({"encoding": "learned"}, offset),
            f"sinusoidal, {OFFSET}": Placed({"encoding": "sinusoidal"}, offset),
        },
    )


def unique_copy(symbols: int, longest: int, steps: int, others: Sequence[str]) -> Panel:
    """Copy a string without repeats, written out; a table that training walks through, and one that it does not."""
    slots = 2 * symbols + 2
    return Panel(
        COPY,
        {"task": "copy", "symbols": symbols},
        trained=(1, longest),
        tested=(longest, longest + (longest + 1) // 3, 2 * longest, symbols),
        sizes={"dim": 64, "num_layers": 2, "num_heads": 1},
        training={"steps": steps, "batch_size": 64, "learning_rate": 3e-3},
        variants={
            f"learned, {OFFSET}": Placed({"encoding": "learned"}, {"kind": "offset", "limit": slots}),
            "learned": Placed({"encoding": "learned", "max_length": slots}),
            **{name: Placed(causal_encodings(2 * longest + 2)[name]) for name in others},
        },
        measures=(EXACT, TOKENS),
    )


def reverse(longest: int, layers: int, steps: int, names: Sequence[str]) -> Panel:
    """Bits, and as many query slots to say them at in reverse, seen from both sides (after Ruoss et al. 2023)."""
    random = {"kind": "random", "limit": 5 * longest + 4}
    plain = {name: {"encoding": name} for name in names}
    return Panel(
        REVERSE,
        {"task": "reverse", "symbols": 2, "unique": False, "form": "slots"},
        trained=(1, longest),
        tested=(longest, longest * 3 // 2, 2 * longest, longest * 5 // 2),
        sizes={"dim": 64, "num_layers": layers, "num_heads": 4, "sight": "both"},
        training={"steps": steps, "batch_size": 64, "learning_rate": 2e-3},
        variants={
            **{name: Placed(each) for name, each in plain.items() if name != "learned"},
            **{f"{name}, {RANDOM}": Placed(plain[name], random) for name in names if name != "alibi"},
        },
    )


def answers(group: str, task: Mapping[str, Any], longest: int, steps: int) -> Panel:
    """Another task of Kazemnejad et al. 2023 and Huang et al. 2025, for four families."""
    slots = 3 * 2 * longest + 4
    encodings = causal_encodings(2 * longest)
    return Panel(
        group,
        task,
        trained=(1, longest),
        tested=(longest, longest * 3 // 2, 2 * longest),
        sizes={"dim": 64, "num_layers": 2, "num_heads": 4},
        training={"steps": steps, "batch_size": 64, "learning_rate": 2e-3},
        variants={
            **{name: Placed(encodings[name]) for name in ("nope", "alibi", "rotary", "t5")},
            f"learned, {OFFSET}": Placed({"encoding": "learned"}, {"kind": "offset", "limit": slots}),
        },
        measures=(EXACT, TOKENS),
    )


QUICK: Final = (
    fixed_offset(),
    unique_copy(symbols=15, longest=5, steps=1200, others=("nope",)),
    reverse(longest=8, layers=2, steps=800, names=("sinusoidal", "rotary")),
)
FULL: Final = (
    unique_copy(symbols=45, longest=15, steps=3000, others=("t5", "rotary", "alibi", "sinusoidal", "nope")),
    reverse(longest=12, layers=4, steps=1500, names=("sinusoidal", "rotary", "learned", "alibi")),
    answers(SORT, {"task": "sort", "symbols": 30}, longest=15, steps=1500),
    answers(ADDITION, {"task": "addition", "answer": "reversed"}, longest=6, steps=1500),
    answers(PARITY, {"task": "parity"}, longest=16, steps=1500),
    fixed_offset(),
)
