"""Readings of single stacks in tests: numbers of a layer, keys by what they decided, files with one hostile value."""

from collections.abc import Iterator, Mapping
from typing import Any, final

import numpy as np
import pytest

from gnomon.resolving.gallery import gallery
from gnomon.resolving.given import Given
from gnomon.resolving.reading import ALL, LayerReading
from gnomon.resolving.rules import formulas
from gnomon.resolving.rules.keys import position_keys
from gnomon.resolving.stack import Stack

HOSTILE: tuple[Any, ...] = ("text", float("nan"), float("inf"), [1], {}, 1e300, -1, 0, True, "", 10**30, None)
HURT = (
    *("qwen3-8b-yarn", "qwen3-8b-saved-by-v5", "llama-3.1-8b", "phi-4-mini", "gemma-3-4b", "deepseek-v3"),
    *("pythia-1b", "llama-4-scout", "llama-2-7b-dynamic"),
)
KNOWN: Mapping[str, dict[str, Any]] = {entry.name: entry.config for entry in gallery()}


@final
class Read:
    """One stack in one version on one config."""

    def __init__(
        self, stack: Stack, config: Mapping[str, Any], version: str | None = None, served: int | None = None
    ) -> None:
        chosen = stack.versions[0] if version is None else stack.version(version)
        self.reading = stack.reading(Given("made", config=dict(config)), chosen, served)

    def layer(self, kind: str = ALL) -> LayerReading:
        """A kind of layer; fails with what the stack said where there is none."""
        found = self.reading.layer(kind)
        if found is None:
            pytest.fail(f"no {kind}: {self.reading.refusal}{self.reading.absent}")
        return found

    def multipliers(self, *pairs: int, length: int = 1, served: int | None = None, kind: str = ALL) -> list[float]:
        """Frequencies of pairs over the plain ones of the same base; all pairs where none are named."""
        layer = self.layer(kind)
        assert layer.base is not None
        found = layer.schedule.at(length, served or length).inverse / formulas.plain(layer.base, layer.rotary_dim)
        chosen: np.ndarray = found[list(pairs)] if pairs else found
        return [float(value) for value in chosen]

    def magnitude(self, length: int = 1, served: int | None = None, kind: str = ALL) -> float:
        return self.layer(kind).schedule.at(length, served or length).magnitude

    def keys(self, kind: str = ALL) -> dict[str, str]:
        """Which key decided what, in the reading and in the layer."""
        return {item.what: item.key for item in (*self.reading.used, *self.layer(kind).used)}

    @property
    def ignored(self) -> dict[str, str]:
        return {item.key: item.why for item in self.reading.ignored}


def hostile_configs() -> Iterator[dict[str, Any]]:
    """Known configs with one value replaced by what no stack expects, and files that lack nearly everything."""
    for name in (
        "qwen3-8b-yarn",
        "llama-3.1-8b",
        "phi-4-mini",
        "gemma-3-4b",
        "deepseek-v3",
        "pythia-1b",
        "llama-4-scout",
    ):
        config = KNOWN[name]
        others = [
            ("hidden_size", 0),
            ("num_attention_heads", 0),
            ("head_dim", 0),
            ("rope_scaling", 0),
            ("model_type", 0),
        ]
        for path, _ in [*position_keys(config), *others]:
            for value in HOSTILE:
                yield _with(config, path.split("."), value)
    for kind in ("llama", "qwen2", "gemma3", "phi3"):
        yield {"model_type": kind}
    yield {}


def _with(config: Any, path: list[str], value: Any) -> dict[str, Any]:
    return {**config, path[0]: value if len(path) == 1 else _with(config[path[0]], path[1:], value)}
