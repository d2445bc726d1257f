"""Every position encoding. A new file in this folder is a new encoding: it is found by its registration.

>>> from gnomon.encodings import Rotary, build
>>> build("rotary", head_dim=64).options == Rotary(head_dim=64).options
True
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from gnomon.encodings.base import PositionEncoding as PositionEncoding
from gnomon.encodings.base import build as build
from gnomon.encodings.base import from_json as from_json
from gnomon.encodings.base import registry as registry
from gnomon.registry import Registry

if TYPE_CHECKING:
    from gnomon.encodings.alibi import ALiBi as ALiBi
    from gnomon.encodings.alibi_grid import ALiBiGrid as ALiBiGrid
    from gnomon.encodings.axial_rotary import AxialRotary as AxialRotary
    from gnomon.encodings.cope import CoPE as CoPE
    from gnomon.encodings.deberta import DeBERTa as DeBERTa
    from gnomon.encodings.fire import FIRE as FIRE
    from gnomon.encodings.fourier import FourierFeatures as FourierFeatures
    from gnomon.encodings.kerple import KERPLE as KERPLE
    from gnomon.encodings.learned import Learned as Learned
    from gnomon.encodings.log_cpb import LogCPB as LogCPB
    from gnomon.encodings.mixed_rotary import MixedRotary as MixedRotary
    from gnomon.encodings.mrope import MRoPE as MRoPE
    from gnomon.encodings.nope import NoPE as NoPE
    from gnomon.encodings.randomized import RandomizedPositions as RandomizedPositions
    from gnomon.encodings.rotary import Rotary as Rotary
    from gnomon.encodings.sandwich import Sandwich as Sandwich
    from gnomon.encodings.shaw import Shaw as Shaw
    from gnomon.encodings.sinusoidal import Sinusoidal as Sinusoidal
    from gnomon.encodings.sinusoidal_grid import SinusoidalGrid as SinusoidalGrid
    from gnomon.encodings.t5 import T5Bias as T5Bias
    from gnomon.encodings.transformer_xl import TransformerXL as TransformerXL
    from gnomon.encodings.window_bias import WindowBias as WindowBias
    from gnomon.encodings.xpos import XPos as XPos

_OTHERS = ("PositionEncoding", "build", "from_hf_config", "from_json", "registry")

#: Functions from a foreign config to an encoding. They know foreign formats, so they stand above this package, and are
#: imported when one is first asked for.
config_readers: Registry[Callable[..., PositionEncoding]] = Registry("config reader", package="gnomon.adapters.readers")


def from_hf_config(
    config: Any,
    layer: int | None = None,
    *,
    stack: Literal["encoder", "decoder", "vision"] | None = None,
    part: Literal["embedding", "attention"] | None = None,
) -> PositionEncoding:
    """The encoding that a Hugging Face config describes: its numbers exactly, learned weights freshly drawn.

    `config`: a transformers config, its dict, or the path of a config.json or its folder; transformers is not needed.
    `layer`: the index of a layer, for models whose layers differ (Gemma 3 and 4, ModernBERT, SmolLM3, Llama 4, Swin);
    None asks for the encoding of all layers. `stack`: "encoder" or "decoder" of a model that has both (T5, Whisper),
    "vision" for the image model of one that also reads text, whose text model is the default. `part`: "embedding" for
    what is added once to the embeddings, "attention" for what acts in each layer, where a model has both (MPNet); with
    a `layer`, attention's own goes first.

    What a model does to its logits beside is not part of it: T5 does not divide them by sqrt(head_dim), DeepSeek
    multiplies them by a square of its mscale, Llama 4 by a temperature, Swin v2 has cosines.

    Raises GnomonError where more than one encoding is left, with a list of them and the argument that would tell them
    apart; for a model type that gnomon does not know, and for an encoding that it does not build.

    >>> config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 5e5}
    >>> from_hf_config(config)
    Rotary(head_dim=16, rotary_dim=16, layout='half', frequencies={'kind': 'plain', 'base': 500000.0})
    >>> from_hf_config({**config, "model_type": "smollm3", "num_hidden_layers": 36}, layer=3)
    NoPE()
    """
    return config_readers.get("hugging_face")(config, layer, stack=stack, part=part)


def __getattr__(name: str) -> Any:
    return registry.attribute(name, module=__name__, others=_OTHERS)


def __dir__() -> list[str]:
    return registry.exported(_OTHERS)
