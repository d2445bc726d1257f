"""ExLlamaV3: the raw file in both spellings, `rope_type` before `type`, YaRN's factor from the file's two lengths."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Final, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.exllama3 import MODELS, turned
from gnomon.resolving.readers.serving.edits import block_of, old_form, typed_edit
from gnomon.resolving.readers.serving.layers import config_of, layers, view_at
from gnomon.resolving.readers.serving.yarn import Magnitude
from gnomon.resolving.readers.transformers5.shape import shape
from gnomon.resolving.reading import Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import NoSuchModel

NO_LENGTH: Final = 8192  #: the longest length of a file that does not say one
_CHOICES: Final = Choices(
    kind_key="rope_type",
    yarn_factor="ratio",
    yarn_ramp="original",
    yarn_ends="truncate",
    yarn_magnitude="own",
    longrope_switch="served",
    longrope_ratio="lengths",
    unknown="error",
)


@registry.register("exllama3")
@final
class ExLlamaThree(Stack):
    """`Config.from_directory` and `Model.from_config` of exllamav3."""

    name: ClassVar[str] = "exllama3"
    title: ClassVar[str] = "ExLlamaV3"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("2026-08", "after issue #259, at 4f8ad01", _CHOICES),
        Version("78b319e", "78b319e up to issue #259", replace(_CHOICES, yarn_magnitude="transformers")),
    )
    sources: ClassVar[str] = (
        "exllamav3/util/rope.py and model/config.py at 4f8ad01 (2026-08-08) and single versions before it, "
        "architecture/architectures.py at 000ad6a; #259 (mscale pair), #29; read 2026-08 and 2026-11"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        config = config_of(given, self.title)
        standard = shape(config)
        if standard.model_type not in MODELS:
            raise NoSuchModel(f"{self.title} has no {standard.model_type or 'such model'}, or it was not traced")
        shared = Keys(config)
        text = view_at(shared, standard.part)
        longest = shared.whole("cap", "max_position_embeddings")
        cap = longest or text.whole("cap", "max_position_embeddings", default=NO_LENGTH)
        found = layers(config, standard, lambda layer: turned(layer, version.choices, served), shared)
        return found.reading(self, version, cap=cap, notes=("rows are not reordered, pairs follow the architecture",))

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """The block in the old spelling; longest = original * factor is what makes YaRN's factor right.

        A factor on cos and sin that DeepSeek's pair makes elsewhere is written out: the pair counts in DeepSeek only.
        """
        blocks = [block_of(wanted)]
        if wanted.rule == "yarn" and (wanted.factor or 0) > 1:
            blocks.append(block_of(wanted, Magnitude(wanted).as_given()))
        stretched = wanted.original and wanted.factor and int(wanted.original * wanted.factor)
        for block in blocks:
            for longest in dict.fromkeys((None, stretched)):
                more = {} if not longest else {"max_position_embeddings": longest}
                beside = {key: value for key, value in block.items() if key != "rope_theta"}
                keys = {"rope_theta": wanted.base, "rope_scaling": beside, **more}
                after = old_form(given, block, **more)
                yield Remedy(f"edit config.json: {typed_edit(given, keys, after)}", after)
