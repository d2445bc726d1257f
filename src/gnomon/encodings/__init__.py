"""Every position encoding. A new file in this folder is a new encoding: it is found by its registration.

>>> from gnomon.encodings import Rotary, build
>>> build("rotary", head_dim=64).options == Rotary(head_dim=64).options
True
"""

from typing import TYPE_CHECKING, Any

from gnomon.encodings.base import PositionEncoding as PositionEncoding
from gnomon.encodings.base import build as build
from gnomon.encodings.base import from_json as from_json
from gnomon.encodings.base import registry as registry

if TYPE_CHECKING:
    from gnomon.encodings.alibi import ALiBi as ALiBi
    from gnomon.encodings.alibi_grid import ALiBiGrid as ALiBiGrid
    from gnomon.encodings.fire import FIRE as FIRE
    from gnomon.encodings.kerple import KERPLE as KERPLE
    from gnomon.encodings.learned import Learned as Learned
    from gnomon.encodings.log_cpb import LogCPB as LogCPB
    from gnomon.encodings.nope import NoPE as NoPE
    from gnomon.encodings.rotary import Rotary as Rotary
    from gnomon.encodings.sandwich import Sandwich as Sandwich
    from gnomon.encodings.sinusoidal import Sinusoidal as Sinusoidal
    from gnomon.encodings.t5 import T5Bias as T5Bias
    from gnomon.encodings.window_bias import WindowBias as WindowBias

_OTHERS = ("PositionEncoding", "build", "from_json", "registry")


def __getattr__(name: str) -> Any:
    return registry.attribute(name, module=__name__, others=_OTHERS)


def __dir__() -> list[str]:
    return registry.exported(_OTHERS)
