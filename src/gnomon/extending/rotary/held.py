"""What turns the layers of a rotary model, now and afterwards: base, rule and numbers of each kind of layer."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, final

from gnomon.encodings.frequencies import Frequencies, build_frequencies
from gnomon.errors import GnomonError

#: rules of transformers, in the words of gnomon.encodings.frequencies
KINDS = {"default": "plain"}
NAMES = {
    "linear": ("factor",),
    "proportional": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor", "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate"),
    "longrope": ("factor", "attention_factor", "short_factor", "long_factor"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
}
ORIGINAL = "original_max_position_embeddings"


@final
@dataclass(frozen=True)
class Held:
    """One kind of layer (`kind` None: all of them). `rule` in the words of transformers, "default" for no scaling.

    `values` are the keys of the block but for its kind and base; `rotary_dim` columns of a head turn. `base_key` is
    where the base stands, a key beside the block or in it, or "default". `windowed` says that no distance within this
    kind of layer is longer than a window within the trained length.
    """

    kind: str | None
    rule: str
    base: float
    rotary_dim: int
    values: Mapping[str, Any] = field(default_factory=dict)
    base_key: str = "default"
    windowed: bool = False

    @property
    def factor(self) -> float:
        """The factor of the rule; 1 where it has none."""
        return number(self.values.get("factor")) or 1.0

    @property
    def name(self) -> str:
        """As it is said to a reader: "yarn by 4", "plain frequencies"."""
        if self.rule == "default":
            return "plain frequencies"
        return f"{self.rule} by {self.factor:g}" if "factor" in self.values else self.rule


@final
@dataclass(frozen=True)
class Lengths:
    """`original`: trained without scaling; `now`: served by the config as it is; `stated`: max_position_embeddings.

    `assumed` says that the config does not state it, and that it is the default of the class in transformers. `beside`
    is a shorter original length that an unscaled config states: its base was raised for what is more.
    """

    original: int
    now: int
    stated: int | None
    to: int
    assumed: bool = False
    beside: int | None = None

    @property
    def factor(self) -> float:
        """to / original."""
        return self.to / self.original

    @property
    def stretch(self) -> float:
        """to / now."""
        return self.to / self.now


@final
@dataclass(frozen=True)
class Scaled:
    """What a method makes of a kind of layer. `positions` is the max_position_embeddings that the rule needs."""

    rule: str
    base: float
    values: Mapping[str, Any]
    positions: int
    words: tuple[str, ...] = ()
    drawbacks: tuple[str, ...] = ()

    def frequencies(self, original: int) -> Frequencies:
        """The rule as gnomon builds it, for a model that was trained to `original` tokens.

        >>> Scaled("linear", 1e4, {"factor": 4.0}, 8192).frequencies(2048)
        Linear(factor=4.0, base=10000.0)
        """
        options = {name: self.values[name] for name in NAMES.get(self.rule, ()) if self.values.get(name) is not None}
        if self.rule in ("yarn", "longrope", "llama3", "dynamic"):
            options["original_max_length"] = original
        if self.rule == "longrope" and "factor" not in options and "attention_factor" not in options:
            options["factor"] = self.positions / original
        if self.rule == "proportional":
            options["fraction"] = self.values.get("partial_rotary_factor", 1.0)
        with computing(self.rule):
            return build_frequencies({"kind": KINDS.get(self.rule, self.rule), "base": self.base, **options})


@contextmanager
def computing(rule: str) -> Iterator[None]:
    """Numbers that no frequencies can be computed from end in a GnomonError: a config may hold anything."""
    try:
        yield
    except GnomonError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:
        said = str(error).splitlines()[0]
        raise GnomonError(f"The {rule} scaling of the config cannot be computed: {said}") from None


def number(value: Any) -> float | None:
    """The value if it is a finite number above zero.

    >>> number(2), number(True), number("2"), number(float("inf"))
    (2.0, None, None, None)
    """
    fine = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e300
    return float(value) if fine else None


def whole(value: Any) -> int | None:
    """The value as an int if it is a whole number above zero."""
    found = number(value)
    return int(found) if found is not None and found == int(found) else None
