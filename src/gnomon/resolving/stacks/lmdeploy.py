"""lmdeploy: two engines with rules of their own, PyTorch and TurboMind; the second stands here as a version."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.lmdeploy import pytorch, turbomind
from gnomon.resolving.readers.serving.caps import stated_lengths, whole_cap
from gnomon.resolving.readers.serving.edits import block_of, nested, new_form, typed
from gnomon.resolving.readers.serving.layers import Layer, Turning, config_of, layers, view_at
from gnomon.resolving.readers.serving.standards import standard_for
from gnomon.resolving.readers.serving.yarn import Magnitude
from gnomon.resolving.readers.transformers5 import Standard
from gnomon.resolving.reading import Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import StackStops

PYTORCH = Choices(
    source="transformers 5",
    yarn_factor="factor",
    yarn_ramp="original",
    yarn_ends="truncate",
    yarn_magnitude="transformers",
    dynamic="sequence",
    longrope_switch="sequence",
    longrope_ratio="lengths",
    unknown="error",
)
TURBOMIND = Choices(
    source="transformers 5",
    yarn_factor="ratio",
    yarn_ramp="maximum",
    yarn_ends="rounded",
    dynamic="prompt",
    unknown="error",
)
#: the smallest of them counts
LENGTHS: Final = (
    *("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length"),
    *("max_sequence_length", "max_seq_length", "seq_len"),
)


@final
@dataclass(frozen=True)
class Engine:
    """Which of the two reads a layer."""

    turned: Callable[[Layer, Choices], Turning]


@registry.register("lmdeploy")
@final
class LMDeploy(Stack):
    """The PyTorch engine, and TurboMind as the version "turbomind"."""

    name: ClassVar[str] = "lmdeploy"
    title: ClassVar[str] = "lmdeploy"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("pytorch", "August 2026: the PyTorch engine", PYTORCH, Engine(pytorch.turned)),
        Version("turbomind", "August 2026: the TurboMind engine", TURBOMIND, Engine(turbomind.turned)),
    )
    sources: ClassVar[str] = (
        "lmdeploy@1263d5cd: pytorch/nn/rotary_embedding.py, pytorch/backends/default/rotary_embedding.py, "
        "pytorch/models/module_map.py, turbomind/models/utils.py, turbomind attention_weight.cc; PRs #2519, #4303, "
        "#4304, issues #2235, #3013, #430; read in August 2026"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        """As `Stack.read`; the PyTorch engine's LongRoPE switches for a whole batch with its longest sequence."""
        config = config_of(given, self.title)
        standard = standard_for(config, version.choices)
        file = Keys(config)
        cap = _cap(standard, file)
        turned = version.rules(Engine).turned
        read = layers(config, standard, lambda layer: turned(layer, version.choices), file)
        return read.reading(self, version, cap=cap, notes=standard.notes)

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """`--hf-overrides`; for TurboMind's ramp with both betas times the factor, which puts its ends back."""
        if given.config is None or nested(given) or wanted.block is None:
            return
        yield _override(given, wanted, block_of(wanted), {})
        try:
            magnitude = Magnitude(wanted)
        except StackStops:
            return
        if wanted.original:
            yield _override(given, wanted, *_over_the_longest(wanted, magnitude))


def _over_the_longest(wanted: Wanted, magnitude: Magnitude) -> tuple[dict[str, Any], dict[str, Any]]:
    """Turns are counted in the longest length there: `factor` times as many are the same ones as in the original."""
    block = block_of(wanted, magnitude.as_given())
    fast, slow = block.get("beta_fast", 32.0), block.get("beta_slow", 1.0)
    block |= {"beta_fast": fast * magnitude.factor, "beta_slow": slow * magnitude.factor}
    return block, {"max_position_embeddings": round((wanted.original or 0) * magnitude.factor)}


def _override(given: Given, wanted: Wanted, block: dict[str, Any], more: dict[str, Any]) -> Remedy:
    keys = typed(given, {"rope_parameters": block, **more})
    return Remedy(f"--hf-overrides '{keys}' --session-len {wanted.cap}", new_form(given, block, **more))


def _cap(standard: Standard, file: Keys) -> int | None:
    """The smallest of many keys; nothing multiplies it."""
    text = view_at(file, standard.part)
    given = stated_lengths(standard, text, LENGTHS)
    return whole_cap(file, *min(given)) if given else None
