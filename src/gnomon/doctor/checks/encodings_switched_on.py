"""PE115: the config switches two encodings on at once."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from gnomon.adapters.families.config_reader import ConfigReader
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.configs import config_parts
from gnomon.doctor.evidence.rope_blocks import rope_blocks
from gnomon.report.document import Finding, Measured

ALIBI, ROTARY, ABSOLUTE = "ALiBi", "rotary", "absolute"
SWITCHES = {
    ALIBI: ("alibi", "use_alibi", "attn_config.alibi"),
    ROTARY: ("rotary", "use_rotary", "use_rope", "use_rotary_embedding", "use_rotary_embeddings", "attn_config.rope"),
    ABSOLUTE: ("use_learned_position_embeddings", "use_absolute_position_embeddings", "use_position_embeddings"),
}
NAMES = {"alibi": ALIBI, "rotary": ROTARY, "rope": ROTARY, "absolute": ABSOLUTE, "learned": ABSOLUTE}
TYPES = ("position_embedding_type", "position_encoding_type", "pos_emb_type")
UNSCALED = ("default", "mrope", "axial")


@check("PE115", "encodings-switched-on", severity="error", needs=("config",))
def encodings_switched_on(subject: Subject) -> Iterator[Finding | Measured]:
    """Two switches of the config turn on two encodings of positions that no published model has together.

    Why: the code that reads the file takes whichever switch it looks at first, and the next program the other one. A
    scaling block in a model with ALiBi is read by nobody: ALiBi has no frequencies.

    Fix: switch off the encoding that the weights were not trained with; a checkpoint without a table of positions was
    not trained with an absolute one.

    Sources: MPT's attention code, which refuses `alibi` with `rope`; DNABERT_2 issue 9 (an ALiBi model with a BERT
    config); Falcon's configuration, where `alibi` turns the rotation off.
    """
    parts = [(prefix, part, _switched(part)) for prefix, part in config_parts(subject.config)]
    parts = [(prefix, part, on) for prefix, part, on in parts if on]
    if not parts:
        raise MissingEvidence("the config has no switch for a kind of encoding")
    for prefix, part, on in parts:
        yield Measured(f"encodings switched on in {prefix.rstrip('.') or 'the config'}", len(on), 1, ", ".join(on))
        yield from _judge(prefix.rstrip(".") or "config.json", part, on)


def _judge(where: str, part: Mapping[str, Any], on: Mapping[str, str]) -> Iterator[Finding]:
    for one, other in combinations(sorted(on), 2):
        yield Finding(
            where,
            f"{on[one]} turns {one} positions on and {on[other]} turns {other} positions on",
            f"keep the one that the weights were trained with: drop {on[one]} or {on[other]}",
            {on[one]: one, on[other]: other},
            severity="error" if {one, other} == {ALIBI, ROTARY} else "warning",
        )
    for block in rope_blocks(part):
        if ALIBI in on and ROTARY not in on and block.part is part and block.rule not in UNSCALED:
            yield Finding(
                block.where,
                f"{block.rule} scaling is given and {on[ALIBI]} turns ALiBi on: nothing reads the scaling",
                f"drop {block.where}, or switch {on[ALIBI]} off",
                severity="warning",
            )


def _switched(part: Mapping[str, Any]) -> dict[str, str]:
    """Each encoding that a switch turns on, with the switch."""
    reader = ConfigReader(part)
    on: dict[str, str] = {}
    for encoding, keys in SWITCHES.items():
        if given := [key for key in keys if reader.find(key).value is True]:
            on[encoding] = given[0]
    for key in TYPES:
        name = str(part.get(key))
        if name in NAMES:
            on.setdefault(NAMES[name], f"{key}: {name}")
    return on
