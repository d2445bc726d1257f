"""The facts that rules read: what a description says, and what follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gnomon.advisor.description import Checkpoint, Description
from gnomon.advisor.measured import MeasuredFact
from gnomon.advisor.task import Device, Limit, Need, Task

SHOWN = (
    *("task", "causal", "need", "trained", "target", "stretch", "p50", "p95", "longest", "unlimited"),
    *("device", "examples", "limits", "existing", "fine_tune", "dim", "num_heads", "head_dim"),
)


@dataclass(frozen=True)
class Facts:
    """What a rule may read. Every size and length is known here: given, read from the checkpoint, or assumed."""

    description: Description
    causal: bool
    trained: int
    target: int
    fine_tune: bool
    sizes: Mapping[str, int]

    @property
    def task(self) -> Task | None:
        return self.description.task

    @property
    def need(self) -> Need | None:
        """What the user says decides; else what the task does."""
        if self.description.need is None and self.task is not None and self.task.needs_relative:
            return Need.RELATIVE
        return self.description.need

    @property
    def axes(self) -> int:
        """How many coordinates a token has: what the task says, or the checkpoint if that has more."""
        return max(1 if self.task is None else self.task.axes, self.checkpoint.axes if self.checkpoint else 1)

    @property
    def stretch(self) -> float:
        """target / trained."""
        return self.target / self.trained

    @property
    def p50(self) -> int | None:
        return self.description.lengths.at(50)

    @property
    def p95(self) -> int | None:
        return self.description.lengths.at(95)

    @property
    def longest(self) -> int | None:
        return self.description.lengths.longest

    @property
    def counted(self) -> bool:
        """Whether the length of each example is known, and not only percentiles."""
        return bool(self.description.lengths.counts)

    @property
    def cut(self) -> bool:
        return self.description.lengths.cut

    @property
    def stated_target(self) -> int | None:
        """The target as the user gave it; None where it was worked out."""
        return self.description.lengths.target

    @property
    def stated_trained(self) -> int | None:
        """The trained length as the user gave it."""
        return self.description.lengths.trained

    @property
    def unlimited(self) -> bool:
        return self.description.lengths.unlimited

    def share_above(self, length: int) -> float | None:
        """The share of the examples that are longer."""
        return self.description.lengths.share_above(length)

    @property
    def device(self) -> Device | None:
        return self.description.setting.device

    @property
    def examples(self) -> int | None:
        """How many there are; from a number of tokens, by the length of the middle one or the trained length."""
        setting = self.description.setting
        if setting.examples is not None or setting.tokens is None:
            return setting.examples
        return setting.tokens // max(1, self.p50 or self.trained)

    @property
    def limits(self) -> frozenset[Limit]:
        return self.description.setting.limits

    @property
    def checkpoint(self) -> Checkpoint | None:
        return self.description.setting.checkpoint

    @property
    def existing(self) -> str | None:
        """The encoding of the checkpoint; None for a model from scratch."""
        return None if self.checkpoint is None else self.checkpoint.encoding

    @property
    def existing_options(self) -> Mapping[str, Any]:
        return {} if self.checkpoint is None else self.checkpoint.options

    @property
    def turns(self) -> bool:
        """Whether the checkpoint turns queries and keys by the order of its tokens, so that it can be extended."""
        return self.existing in ("rotary", "mrope")

    @property
    def frequencies(self) -> Mapping[str, Any]:
        """The frequencies rule of a rotary checkpoint; empty otherwise."""
        found: Mapping[str, Any] = self.existing_options.get("frequencies") or {}
        return found if found or not self.turns else {"kind": "plain", "base": 10000.0}

    @property
    def rotary_kind(self) -> str | None:
        return self.frequencies.get("kind")

    @property
    def rotary_dim(self) -> int:
        """The columns of a head that turn."""
        width: int | None = self.existing_options.get("rotary_dim")
        return width or self.head_dim

    @property
    def dim(self) -> int:
        return self.sizes["dim"]

    @property
    def num_heads(self) -> int:
        return self.sizes["num_heads"]

    @property
    def head_dim(self) -> int:
        return self.sizes["head_dim"]

    @property
    def key_heads(self) -> int:
        return self.sizes["key_heads"]

    @property
    def num_layers(self) -> int | None:
        return self.sizes.get("num_layers")

    @property
    def batch(self) -> int:
        return self.sizes.get("batch", 1)

    @property
    def dtype(self) -> str:
        return self.description.sizes.dtype

    @property
    def measured(self) -> tuple[MeasuredFact, ...]:
        return self.description.measured

    def shown(self) -> dict[str, Any]:
        """The facts that a reader wants to see, without those that nothing is known of."""
        names = [name for name in SHOWN if name != "fine_tune" or self.existing is not None]
        values = {name: plain(getattr(self, name)) for name in names}
        return {
            name: value for name, value in values.items() if value is not None and value != [] and _told(name, value)
        }


def _told(name: str, value: Any) -> bool:
    """Whether a value says something: that inputs have a longest length goes without saying."""
    return name != "unlimited" or bool(value)


def plain(value: Any) -> Any:
    """A fact as a JSON value.

    >>> plain(Task.CODE), plain(frozenset({Limit.ONNX}))
    ('code', ['onnx'])
    """
    if isinstance(value, frozenset):
        return sorted(str(item) for item in value)
    if isinstance(value, Mapping):
        return {str(key): plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [plain(held) for held in value]
    if isinstance(value, str):
        return str(value)
    return value if isinstance(value, bool | int | float | None) else str(value)
