"""CTranslate2: its converter reads the config through transformers, whose version decides where the base is found."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.ct2 import MODELS, turned
from gnomon.resolving.readers.serving.edits import block_of, nested, new_form, old_flat_form, typed_edit
from gnomon.resolving.readers.serving.layers import config_of, layers
from gnomon.resolving.readers.serving.standards import standard_for
from gnomon.resolving.readers.transformers5.shape import shape
from gnomon.resolving.reading import Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices, Source
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import ConfigStops, NoSuchModel, StackStops

THROUGH: Final[tuple[tuple[str, Source], ...]] = (("5", "transformers 5"), ("4", "transformers 4"))


@registry.register("ct2")
@final
class CTranslateTwo(Stack):
    """`ct2-transformers-converter` and the models that it writes."""

    name: ClassVar[str] = "ct2"
    title: ClassVar[str] = "CTranslate2"
    versions: ClassVar[tuple[Version, ...]] = tuple(
        Version(
            f"4.8-hf{number}",
            f"4.8.1, converted with transformers {number}",
            Choices(
                source,
                kind_key="type",
                longrope_switch="sequence",
                longrope_ratio="whole lengths",
                unknown="error",
            ),
        )
        for number, source in THROUGH
    )
    sources: ClassVar[str] = (
        "python/ctranslate2/converters/transformers.py at 0d8bcd36 (4.8.1); #1745, PR #1751, #1685, #1764, #1792, "
        "#1567; read 2026-08"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        config = config_of(given, self.title)
        standard = shape(config)
        if standard.model_type not in MODELS:
            raise NoSuchModel(f"{self.title} has no {standard.model_type or 'such model'}, or it was not traced")
        _loaded(config, version.choices)
        found = layers(config, standard, lambda layer: turned(layer, version.choices), Keys(config))
        return found.reading(self, version)

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """The block with its base in it, which is where it is looked for; YaRN and dynamic scaling cannot be had."""
        if wanted.rule in ("yarn", "dynamic", "ntk", "proportional") or nested(given):
            return
        block: Mapping[str, Any] = block_of(wanted)
        text = "edit config.json before converting: "
        for name, form in (("rope_parameters", new_form), ("rope_scaling", old_flat_form)):
            after = form(given, block)
            yield Remedy(text + typed_edit(given, {name: block}, after), after)


def _loaded(config: Mapping[str, Any], choices: Choices) -> None:
    """The converter builds the model by transformers; raises ConfigStops where the config class ends."""
    try:
        standard_for(config, choices)
    except ConfigStops:
        raise
    except StackStops:  # what a rotary module ends on; the converter reads the block of the file itself
        return
