"""DeepSpeed-FastGen: kernels that know a base and nothing of scaling; what a file asks for beyond it is dropped."""

from typing import ClassVar, Final, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.serving.layers import Layer, Turning, config_of, layers
from gnomon.resolving.readers.transformers5.classes import rotation_of
from gnomon.resolving.readers.transformers5.shape import shape
from gnomon.resolving.reading import Reading
from gnomon.resolving.rules import scaling
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import ORIGINAL, Scaled
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import NoSuchModel, StackStops

MODELS: Final = frozenset({"llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "phi3", "falcon"})
FIXED: Final = 10_000.0  #: Falcon's base, whatever the file says


@registry.register("fastgen")
@final
class FastGen(Stack):
    """`deepspeed.inference.v2` behind MII. Nothing brings scaling about there, so there are no remedies."""

    name: ClassVar[str] = "fastgen"
    title: ClassVar[str] = "DeepSpeed-FastGen"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("hf4", "v2 at edaa7221, beside transformers 4", Choices(source="transformers 4")),
        Version("hf5", "v2 at edaa7221, beside transformers 5", Choices(source="transformers 5")),
    )
    sources: ClassVar[str] = (
        "deepspeed/inference/v2/model_implementations/* at edaa7221 (2026-08-22); DeepSpeed#8341, #8345; read 2026-08"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        config = config_of(given, self.title)
        standard = shape(config)
        if standard.model_type not in MODELS:
            raise NoSuchModel(f"{self.title} has no {standard.model_type or 'such model'}, or it was not traced")
        if version.choices.source == "transformers 5" and standard.model_type != "falcon":
            raise StackStops("AttributeError: configs of transformers 5 have no rope_theta")
        found = layers(config, standard, turned, Keys(config))
        return found.reading(self, version, notes=("rope_scaling is dropped without a word",))


def turned(layer: Layer) -> Turning:
    """Plain frequencies over the whole head."""
    if layer.model_type == "falcon":
        layer.text.lose("rope_theta", f"Falcon's base is {FIXED:g} there")
        base = FIXED
    else:
        base = layer.text.number("base", "rope_theta", default=rotation_of(layer.model_type).base.base)
    for name in ("partial_rotary_factor", ORIGINAL):
        layer.text.lose(name, "the whole head turns" if name != ORIGINAL else "nothing is scaled")
    block = layer.text.part("rope_scaling")
    for name in block.values:
        block.lose(str(name), "rope_scaling is not read")
    over = Scaled(base, layer.head_dim, None, None)
    return Turning("default", base, over.dim, scaling.unscaled(over))
