"""How rotary frequencies are chosen. A new file in this folder is a new rule: it is found by its registration.

>>> from gnomon.encodings.frequencies import Linear, build_frequencies
>>> build_frequencies({"kind": "linear", "factor": 4.0}) == Linear(factor=4.0)
True
"""

from typing import TYPE_CHECKING, Any

from gnomon.encodings.frequencies.base import Bands as Bands
from gnomon.encodings.frequencies.base import Frequencies as Frequencies
from gnomon.encodings.frequencies.base import build_frequencies as build_frequencies
from gnomon.encodings.frequencies.base import registry as registry

if TYPE_CHECKING:
    from gnomon.encodings.frequencies.by_parts import ByParts as ByParts
    from gnomon.encodings.frequencies.custom import Custom as Custom
    from gnomon.encodings.frequencies.dynamic import DynamicNTK as DynamicNTK
    from gnomon.encodings.frequencies.dynamic_yarn import DynamicYaRN as DynamicYaRN
    from gnomon.encodings.frequencies.linear import Linear as Linear
    from gnomon.encodings.frequencies.llama3 import Llama3 as Llama3
    from gnomon.encodings.frequencies.longrope import LongRoPE as LongRoPE
    from gnomon.encodings.frequencies.ntk import NTKAware as NTKAware
    from gnomon.encodings.frequencies.plain import Plain as Plain
    from gnomon.encodings.frequencies.proportional import Proportional as Proportional
    from gnomon.encodings.frequencies.yarn import YaRN as YaRN

_OTHERS = ("Bands", "Frequencies", "build_frequencies", "registry")


def __getattr__(name: str) -> Any:
    return registry.attribute(name, module=__name__, others=_OTHERS)


def __dir__() -> list[str]:
    return registry.exported(_OTHERS)
