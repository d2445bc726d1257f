"""transformers 5: config classes put the file in order, rotary modules compute. Tests run it against them."""

from collections.abc import Iterator
from typing import ClassVar, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.serving.edits import block_of, new_form, typed_edit
from gnomon.resolving.readers.serving.layers import config_of, layers
from gnomon.resolving.readers.serving.standards import standard_for
from gnomon.resolving.readers.transformers5.classes import is_foreign
from gnomon.resolving.readers.transformers5.turning import longest_length, turned
from gnomon.resolving.reading import Reading, Remedy, Sure, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import NoSuchModel, StackStops

UNTRACED = "The model's own code was not traced"

NOW = Choices(
    source="transformers 5",
    yarn_factor="factor",
    yarn_ramp="original",
    yarn_ends="truncate",
    yarn_magnitude="transformers",
    dynamic="sequence",
    longrope_switch="sequence",
    longrope_ratio="factor or lengths",
    unknown="error",
)


@registry.register("hf5")
@final
class TransformersFive(Stack):
    """`AutoModel.from_pretrained` of transformers 5."""

    name: ClassVar[str] = "hf5"
    title: ClassVar[str] = "transformers 5"
    versions: ClassVar[tuple[Version, ...]] = (Version("5", "5.24.0", NOW),)
    sure: ClassVar[Sure] = "run"
    sources: ClassVar[str] = (
        "transformers 5.24.0 as installed: modeling_rope_utils.py, configuration_utils.py, models/*; compared with its "
        "real classes over the gallery and random configs, 2026-11"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        config = config_of(given, self.title)
        shared = Keys(config)
        standard = standard_for(config, version.choices)
        cap = longest_length(standard.longest)
        if cap is not None:
            shared.note("cap", int(cap), standard.longest.key)
        try:
            found = layers(config, standard, lambda layer: turned(layer, version.choices), shared)
        except StackStops as error:
            if is_foreign(config):  # its own code may well take it
                raise NoSuchModel(f"the class would end with: {error}. {UNTRACED}") from error
            raise
        return Reading(
            self.name,
            version.name,
            self.sure_of(given),
            found.readings,
            None if cap is None else int(cap),
            found.used,
            found.ignored,
            (*standard.notes, "longer inputs are not refused"),
        )

    def sure_of(self, given: Given) -> Sure:
        """Run, but for model types that transformers has no class of."""
        return "by reading" if given.config is not None and is_foreign(given.config) else self.sure

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """The block edited, or updated in place before building: one set as a whole afterwards loses its base."""
        block = block_of(wanted)
        after = new_form(given, block)
        inside = ", ".join(f"{name}={value!r}" for name, value in block.items())
        yield Remedy(f"before building the model: config.rope_parameters.update({inside})", after)
        yield Remedy(f"edit config.json: {typed_edit(given, {'rope_parameters': block}, after)}", after)
