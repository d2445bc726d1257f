"""Megatron-LM with Megatron-Bridge: the bridge passes on some keys of some kinds of scaling."""

from collections.abc import Iterator
from typing import ClassVar, Final, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.megatron import HIGH, LENGTH, LLAMA, LOW, MODELS, Rules, turned
from gnomon.resolving.readers.serving.edits import block_of, nested, new_form, typed_edit
from gnomon.resolving.readers.serving.layers import config_of, layers
from gnomon.resolving.readers.serving.standards import standard_for
from gnomon.resolving.readers.serving.yarn import Magnitude
from gnomon.resolving.reading import Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import ORIGINAL
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import NoSuchModel

_CHOICES: Final = Choices(
    source="transformers 5",
    kind_key="type",
    yarn_factor="factor",
    yarn_ramp="original",
    yarn_ends="truncate",
    yarn_magnitude="not null",
    unknown="plain",
)


@registry.register("megatron")
@final
class Megatron(Stack):
    """`AutoBridge.from_hf_pretrained` and the model that it provides."""

    name: ClassVar[str] = "megatron"
    title: ClassVar[str] = "Megatron-LM (Megatron-Bridge)"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("2026-08", "d98e8a64 with bridge 067f987d", _CHOICES, Rules(linear=True)),
        Version("before-5097", "bridges before PR #5097", _CHOICES, Rules(linear=False)),
    )
    sources: ClassVar[str] = (
        "Megatron-LM d98e8a64 and Megatron-Bridge 067f987d (2026-08-22); Megatron-LM#6305, #1418, #1429; Bridge "
        "PR #5097; read 2026-08"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        config = config_of(given, self.title)
        standard = standard_for(config, version.choices)
        if standard.model_type not in MODELS:
            raise NoSuchModel(f"a bridge for {standard.model_type or 'such a model'} was not traced")
        found = layers(
            config, standard, lambda layer: turned(layer, version.choices, version.rules(Rules)), Keys(config)
        )
        return found.reading(self, version)

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """Flags of Megatron-LM as the block that they stand for, then the block itself."""
        if nested(given):
            return
        block = block_of(wanted)
        after = new_form(given, block)
        llama = wanted.model_type in LLAMA and wanted.factor is not None
        if llama and wanted.rule == "linear":
            yield Remedy(
                f"--rotary-base {wanted.base:g} --rotary-seq-len-interpolation-factor {wanted.factor:g}", after
            )
        usual = (block.get("low_freq_factor"), block.get("high_freq_factor"), block.get(ORIGINAL)) == (
            LOW,
            HIGH,
            LENGTH,
        )
        if llama and wanted.rule == "llama3" and usual and wanted.factor == 8:
            # Issue #6305: the flag for the factor is parsed, and 8 is used all the same.
            yield Remedy(f"--rotary-base {wanted.base:g} --use-rope-scaling --rope-scaling-factor 8", after)
        yield Remedy(f"edit config.json: {typed_edit(given, {'rope_parameters': block}, after)}", after)
        if wanted.rule == "yarn":
            # attention_factor is not read, and a pair with a zero in it is: the factor is said by mscale over 0.
            block = block_of(wanted, Magnitude(wanted).as_pair())
            after = new_form(given, block)
            yield Remedy(f"edit config.json: {typed_edit(given, {'rope_parameters': block}, after)}", after)
