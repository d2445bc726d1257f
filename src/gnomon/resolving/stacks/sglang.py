"""SGLang: configs through transformers' classes; YaRN's magnitude by the pair or `attn_factor`, never the final one."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Final, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.serving.caps import stated_lengths, whole_cap
from gnomon.resolving.readers.serving.edits import block_of, nested, old_flat_form, typed
from gnomon.resolving.readers.serving.layers import config_of, layers, rule_of, view_at
from gnomon.resolving.readers.serving.standards import standard_for
from gnomon.resolving.readers.serving.yarn import Magnitude
from gnomon.resolving.readers.sglang.kinds import turned
from gnomon.resolving.readers.transformers5 import Standard
from gnomon.resolving.reading import Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import ORIGINAL
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import StackStops

NOW = Choices(
    source="transformers 5",
    yarn_factor="factor",
    yarn_ramp="original",
    yarn_ends="truncate",
    yarn_magnitude="not null",
    dynamic="constant",
    longrope_switch="sequence",
    longrope_ratio="lengths",
    unknown="error",
)
BEFORE_PAIR = replace(NOW, yarn_magnitude="factor")
BEFORE_TRUNCATE = replace(BEFORE_PAIR, yarn_ends="rounded", source="transformers 4")
#: the first of them that the config has counts
LENGTHS: Final = ("max_sequence_length", "seq_length", "max_seq_len", "model_max_length", "max_position_embeddings")
UNSTATED: Final = 2048
ALLOWED: Final = "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1"
SCALED: Final = frozenset({"yarn", "llama3"})  #: kinds whose frequencies do not hang on max_position_embeddings


@registry.register("sglang")
@final
class SGLang(Stack):
    """SGLang's own classes; models that run through its transformers backend are hf5."""

    name: ClassVar[str] = "sglang"
    title: ClassVar[str] = "SGLang"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("2026-08", "August 2026: yarn by the mscale pair", NOW),
        Version("before-22711", "from PR #14270 (December 2025) to PR #22711: yarn by attn_factor only", BEFORE_PAIR),
        Version("before-14270", "before December 2025: the ends of yarn's ramp always rounded", BEFORE_TRUNCATE),
    )
    sources: ClassVar[str] = (
        "srt/layers/rotary_embedding/{factory@108c36c0,rope_variant,yarn@0b1fd02d}.py, srt/models/ministral3.py, "
        "srt/configs/model_config.py@001adf56, srt/utils/hf_transformers_utils; PRs #14270, #22711, #33558, #14745, "
        "#26187, issue #2943; read in August 2026, files of mixed commits"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        """As `Stack.read`; LongRoPE's list switches for a whole batch with its longest sequence."""
        config = config_of(given, self.title)
        standard = standard_for(config, version.choices)
        file = Keys(config)
        cap = _cap(standard, file, view_at(file, standard.part))
        read = layers(config, standard, lambda layer: turned(layer, version.choices), file)
        notes = list(standard.notes)
        if any(rule_of(block) == "longrope" for block in standard.blocks):
            notes.append("one long sequence switches the list for every other one in its batch")
        if served is not None and served > cap:
            notes.append(f"a server for {served} tokens needs {ALLOWED}")
        found = read.reading(self, version, cap=cap, notes=notes)
        return replace(found, needs=ALLOWED if served is not None and served > cap else "")

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """`--json-model-override-args` with the wanted block, then with its magnitude as `attn_factor`."""
        if given.config is None or nested(given) or wanted.block is None:
            return
        more = {"max_position_embeddings": wanted.cap} if wanted.rule in SCALED else {}
        yield _override(given, wanted, block_of(wanted), more)
        try:
            magnitude = Magnitude(wanted)
        except StackStops:
            return
        yield _override(given, wanted, block_of(wanted, magnitude.as_multiplier()), more)


def _override(given: Given, wanted: Wanted, block: dict[str, Any], more: dict[str, Any]) -> Remedy:
    more = {"rope_theta": wanted.base, **more}
    keys = typed(given, {"rope_scaling": block, **more})
    text = f"--json-model-override-args '{keys}' --context-length {wanted.cap}"
    return Remedy(text, old_flat_form(given, block, **more))


def _cap(standard: Standard, file: Keys, text: Keys) -> int:
    """The first of many keys, times `factor` unless the block says an original length or is Llama 3's."""
    stated = stated_lengths(standard, text, LENGTHS)
    if not stated:
        file.note("cap", UNSTATED)
        return UNSTATED
    longest, key = stated[0]
    block = standard.blocks[0]
    flat = len([each for each in standard.blocks if each.turns]) == 1
    if flat and block.turns and ORIGINAL not in block.values and rule_of(block) != "llama3":
        longest *= block.keys(file).number("factor of the cap", "factor", default=1.0)
    return whole_cap(file, longest, key)
