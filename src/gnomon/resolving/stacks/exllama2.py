"""ExLlamaV2: one block at the top of the raw file, and tables for the length that it was started with (`-l`)."""

from collections.abc import Iterator
from typing import Any, ClassVar, Final, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.exllama2 import CAPS, MODELS, Rules, Started, turned
from gnomon.resolving.readers.serving.edits import block_of, edited, typed_edit
from gnomon.resolving.readers.serving.layers import config_of, layers
from gnomon.resolving.readers.transformers5.shape import shape
from gnomon.resolving.reading import Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.numbers import EXACT
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import NoSuchModel, StackStops

NO_LENGTH: Final = 2048  #: the longest length of a file that does not say one
_CHOICES: Final = Choices(
    kind_key="error", yarn_factor="factor", yarn_ramp="served", yarn_ends="rounded", unknown="plain"
)


@registry.register("exllama2")
@final
class ExLlamaTwo(Stack):
    """`ExLlamaV2Config` and `ExLlamaV2` of exllamav2."""

    name: ClassVar[str] = "exllama2"
    title: ClassVar[str] = "ExLlamaV2"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("2025-12", "at da07fac (December 2025)", _CHOICES, Rules(either=True)),
        Version("c64d65a", "up to c64d65a: before Qwen 3", _CHOICES, Rules(either=False)),
    )
    sources: ClassVar[str] = (
        "exllamav2/config.py and rope.py at da07fac (2025-12-09) and c64d65a, architecture.py at 7532969; PR #642, "
        "PR #741, tabbyAPI#239; read 2026-08 and 2026-11"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        config = config_of(given, self.title)
        standard = shape(config)
        if standard.model_type not in MODELS:
            raise NoSuchModel(f"{self.title} has no {standard.model_type or 'such model'}, or it was not traced")
        shared = Keys(config)
        cap = _cap(shared, standard.part)
        length = cap if served is None else served
        if length <= 0:
            raise StackStops(f"a length of {length} tokens")
        started = Started(length, version.choices, version.rules(Rules))
        found = layers(config, standard, lambda layer: turned(layer, started), shared)
        return found.reading(self, version, cap=cap, notes=("tables are made for the length asked for, -l",))

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """The block with one name for its kind; -rs and -ry have no place for an original length or a base."""
        beside = {key: value for key, value in block_of(wanted).items() if key not in ("rope_theta", "rope_type")}
        kind = "rope_type" if wanted.rule == "llama3" else "type"
        block: dict[str, Any] | None = {kind: wanted.rule, **beside} if wanted.rule != "default" else None
        edits = {"rope_parameters": None, "rope_theta": wanted.base, "rope_scaling": block}
        if wanted.rule == "longrope":
            edits["original_max_position_embeddings"] = wanted.original
        after = edited(given, edits)
        yield Remedy(f"edit config.json: {typed_edit(given, edits, after)}; start with -l {wanted.cap}", after)


def _cap(shared: Keys, part: str) -> int:
    """The first of its keys, at the top or in the inner config."""
    names = [prefix + name for name in CAPS for prefix in dict.fromkeys(("", part))]
    cap: int = shared.whole("cap", *names, default=NO_LENGTH)
    if not 0 < cap < EXACT:
        raise StackStops(f"the longest sequence would be {cap} tokens")
    return cap
