"""What a stack reads from a config in tests: numbers of a layer, keys by what they decided; golden numbers of YaRN."""

import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np
import pytest

from gnomon.resolving.gallery import gallery
from gnomon.resolving.given import Given
from gnomon.resolving.reading import ALL, LayerReading, Reading
from gnomon.resolving.stack import Stack

LLAMA = {"model_type": "llama", "hidden_size": 256, "num_attention_heads": 2, "max_position_embeddings": 2048}
#: width 128, base 1e6, L 32768, s 4: YaRN over plain frequencies of pairs 23, 24, 28, 32, 36, 39, 40, 41, 63
PAIRS = (23, 24, 28, 32, 36, 39, 40, 41, 63)
ROUNDED = (1, 0.955882, 0.779412, 0.602941, 0.426471, 0.294118, 0.25, 0.25, 0.25)
EXACT = (1, 0.981125, 0.794266, 0.607408, 0.420549, 0.280406, 0.25, 0.25, 0.25)
#: gpt-oss (width 64, base 1.5e5, L 4096, s 32) at pairs 8, 9, 12, 13, 16, 17, 18
GPT_OSS_PAIRS = (8, 9, 12, 13, 16, 17, 18)
GPT_OSS_EXACT = (1, 0.905551, 0.593227, 0.489119, 0.176795, 0.072688, 0.03125)
GPT_OSS_ROUNDED = (1, 0.903125, 0.612500, 0.515625, 0.225000, 0.128125, 0.03125)
#: DeepSeek-V3 (width 64, base 1e4, L 4096, s 40), ends rounded
DEEPSEEK_PAIRS = (10, 11, 15, 16, 20, 22, 23)
DEEPSEEK_ROUNDED = (1, 0.925, 0.625, 0.55, 0.25, 0.1, 0.025)
#: 0.1 ln(s) + 1
G4, G16, G32, G64 = 1.138629, 1.277259, 1.346574, 1.415888


KNOWN: Mapping[str, dict[str, Any]] = {entry.name: entry.config for entry in gallery()}


def known(name: str) -> dict[str, Any]:
    """A config of the gallery, to be changed."""
    return dict(KNOWN[name])


def read(stack: Stack, config: Mapping[str, Any], version: str = "", served: int | None = None) -> Reading:
    return stack.reading(Given("made", config=config), stack.version(version) if version else None, served)


def layer(reading: Reading, kind: str = "") -> LayerReading:
    """The layer of a kind, or the only one; fails with what the stack says where it does not serve."""
    assert reading.serves, reading.refusal + reading.absent
    if kind:
        found = reading.layer(kind)
        assert found is not None, [each.kind for each in reading.layers]
        return found
    [only] = reading.layers
    return only


def ratios(found: LayerReading, length: int = 1, served: int | None = None) -> np.ndarray:
    """Frequencies over the plain ones of the same base."""
    assert found.base is not None
    plain = [found.base ** -(2 * pair / found.rotary_dim) for pair in range(found.rotary_dim // 2)]
    result: np.ndarray = found.schedule.at(length, served or length).inverse / np.array(plain)
    return result


def magnitude(found: LayerReading, length: int = 1, served: int | None = None) -> float:
    return found.schedule.at(length, served or length).magnitude


def base_at(found: LayerReading, length: int, served: int | None = None) -> float:
    """The base that the second frequency speaks of."""
    second = float(found.schedule.at(length, served or length).inverse[1])
    return math.pow(second, -found.rotary_dim / 2)


def reasons(reading: Reading) -> dict[str, str]:
    """Ignored keys, and why."""
    return {item.key: item.why for item in reading.ignored}


def decided(reading: Reading, what: str) -> str:
    """The key that decided something in the first layer, or in the whole."""
    return next(item.key for item in (*reading.used, *reading.layers[0].used) if item.what == what)


@final
class Read:
    """One stack in one version on one config, asked several things."""

    def __init__(self, stack: Stack, config: Mapping[str, Any], version: str = "", served: int | None = None) -> None:
        self.reading = read(stack, config, version, served)

    def layer(self, kind: str = ALL) -> LayerReading:
        """A kind of layer; fails with what the stack said where there is none."""
        found = self.reading.layer(kind)
        if found is None:
            pytest.fail(f"no {kind}: {self.reading.refusal}{self.reading.absent}")
        return found

    def multipliers(self, *pairs: int, length: int = 1, served: int | None = None, kind: str = ALL) -> list[float]:
        """`ratios` of some pairs; of all where none are named."""
        found = ratios(self.layer(kind), length, served)
        return [float(value) for value in (found[list(pairs)] if pairs else found)]

    def magnitude(self, length: int = 1, served: int | None = None, kind: str = ALL) -> float:
        return magnitude(self.layer(kind), length, served)

    def keys(self, kind: str = ALL) -> dict[str, str]:
        """Which key decided what, in the reading and in the layer."""
        return {item.what: item.key for item in (*self.reading.used, *self.layer(kind).used)}

    @property
    def ignored(self) -> dict[str, str]:
        return reasons(self.reading)
