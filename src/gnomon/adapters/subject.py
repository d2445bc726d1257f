"""A Subject: the thing under examination, as named evidence that is computed on first use and kept."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from torch import nn

from gnomon.adapters.claims import Claim
from gnomon.adapters.tensors import TensorSource

T = TypeVar("T")


class MissingEvidence(Exception):
    """Evidence that this subject does not have; the message says which, and what would bring it."""


class Lazy(Generic[T]):
    """Evidence that costs something: called once, when first asked for. It may raise MissingEvidence."""

    def __init__(self, compute: Callable[[], T]) -> None:
        self.compute = compute


class Absent:
    """Evidence that is known not to exist, with the reason that a not-applicable check will print."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


#: evidence that adapters give
FROM_TARGETS = frozenset(
    {
        "config",
        "claims",
        "tensors",
        "module",
        "example",
        "trained",
        "tokenizer",
        "family",
        "loading",
        "graph",
        "original",
        "built",
    }
)
#: evidence that only the caller can give, with what it is
FROM_CALLERS = {
    "causal": "the model is meant to look only backwards (bool)",
    "reference": "the model or config before it was converted, extended or exported (a target of any kind)",
    "text": "token ids of real text, (S,) or (B, S): weights tell their layout by their loss on it",
    "optimizer": "the torch optimizer that trains the module, several in a list, or a function that makes it from one",
    "batches": "forward arguments as training uses them, a list of mappings",
    "device_map": "which module goes to which device, as from_pretrained takes it (a mapping)",
    "factory": "a function without arguments that builds the module anew",
    "shards": "the positions that each rank of a split sequence uses, and how the tokens were split (a mapping)",
    "slopes": "the ALiBi slopes of each tensor-parallel rank: a list, or a function that makes it from the module",
    "lengths": "how many tokens each example has, a list of numbers",
    "ordered": "whether the order of the tokens must matter (bool); False for sets and clouds of points",
}
RAW = FROM_TARGETS | FROM_CALLERS.keys()


class Subject:
    """Named evidence about one target.

    Adapters give the raw names below. The doctor derives the rest (`gnomon.doctor.evidence`) and keeps it here too, so
    that two checks never measure the same thing twice. A value passed by name overrides what would be derived.

    Raw evidence: `config` (mapping, as Hugging Face writes it), `claims` (what the config says about positions),
    `tensors` (TensorSource), `module` (nn.Module in eval mode), `example` (dict of forward arguments), `trained`
    (bool: weights come from a checkpoint), `tokenizer` (mapping, tokenizer_config.json).

    >>> Subject("a config", config={"hidden_size": 8}).config["hidden_size"]
    8
    """

    def __init__(self, target: str, **evidence: Any) -> None:
        self.target = target
        self._given: dict[str, Any] = dict(evidence)
        self._evidence: dict[str, Any] = dict(evidence)
        self._missing: dict[str, str] = {}

    def has(self, name: str) -> bool:
        """Whether evidence of this name was given (not whether it can be computed)."""
        return name in self._evidence and not isinstance(self._evidence[name], Absent)

    def get(self, name: str, derive: Callable[["Subject"], Any] | None = None) -> Any:
        """The evidence called `name`, computed at most once; raises MissingEvidence with the reason."""
        if name in self._missing:
            raise MissingEvidence(self._missing[name])
        if name not in self._evidence and derive is None:
            raise MissingEvidence(f"no {name}")
        value = self._evidence.get(name)
        try:
            if name not in self._evidence and derive is not None:
                value = derive(self)
            elif isinstance(value, Lazy):
                value = value.compute()
            elif isinstance(value, Absent):
                raise MissingEvidence(value.reason)
        except MissingEvidence as missing:
            self._missing[name] = str(missing)
            raise
        self._evidence[name] = value
        return value

    def with_evidence(self, **evidence: Any) -> "Subject":
        """A new subject with these pieces of evidence in place of its own; nothing derived is carried over."""
        return Subject(self.target, **{**self._given, **evidence})

    @property
    def config(self) -> Mapping[str, Any]:
        config: Mapping[str, Any] = self.get("config")
        return config

    @property
    def claims(self) -> tuple[Claim, ...]:
        claims: tuple[Claim, ...] = self.get("claims")
        return claims

    @property
    def tensors(self) -> TensorSource:
        tensors: TensorSource = self.get("tensors")
        return tensors

    @property
    def module(self) -> nn.Module:
        module: nn.Module = self.get("module")
        return module

    @property
    def example(self) -> dict[str, Any]:
        example: dict[str, Any] = self.get("example")
        return example

    @property
    def tokenizer(self) -> Mapping[str, Any]:
        tokenizer: Mapping[str, Any] = self.get("tokenizer")
        return tokenizer

    @property
    def trained(self) -> bool:
        return bool(self.get("trained", lambda _: False))
