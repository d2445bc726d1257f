"""A stack small enough to be read at a glance, in versions that differ in one thing each; not among gnomon's stacks."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, final

from gnomon.resolving.asking import Asked
from gnomon.resolving.columns import Compared
from gnomon.resolving.given import Given
from gnomon.resolving.lengths import lengths_for
from gnomon.resolving.reading import ALL, LayerReading, Reading, Remedy, Wanted
from gnomon.resolving.rules import scaling
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import Scaled
from gnomon.resolving.rules.yarn import yarn
from gnomon.resolving.stack import Stack, Version
from gnomon.resolving.stopping import NoSuchModel, StackStops

PLAIN = Choices(yarn_factor="factor", yarn_ramp="original", yarn_ends="truncate", yarn_magnitude="transformers")
GPT_OSS = {
    "model_type": "gpt_oss",
    "hidden_size": 2880,
    "num_attention_heads": 64,
    "head_dim": 64,
    "max_position_embeddings": 131072,
    "rope_theta": 150000,
    "rope_scaling": {
        "rope_type": "yarn",
        "factor": 32.0,
        "truncate": False,
        "original_max_position_embeddings": 4096,
    },
}


@final
class Small(Stack):
    """Versions: obeys, rounds (the ends of YaRN's ramp, unless the key `exact` says no), ratio, served, plain, hums
    (reads `attn_scale`, a factor on the softmax scale), deaf (plain, but with the key `heard` a ramp with exact ends),
    stops (but for `exact`), absent.
    """

    name: ClassVar[str] = "small"
    title: ClassVar[str] = "a small stack"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("obeys", "always", PLAIN),
        Version("rounds", "always", replace(PLAIN, yarn_ends="rounded")),
        Version("ratio", "always", replace(PLAIN, yarn_factor="ratio")),
        Version("served", "always", replace(PLAIN, yarn_ramp="served")),
        Version("plain", "always", PLAIN, {"scaling": ""}),
        Version("hums", "always", PLAIN, {"softmax": "attn_scale"}),
        Version("deaf", "always", replace(PLAIN, yarn_ends="exact"), {"scaling": "heard"}),
        Version("stops", "always", PLAIN, {"ends": "it stops here"}),
        Version("absent", "always", PLAIN, {"lacks": "no such model here"}),
    )
    sources: ClassVar[str] = "this file"

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        own = version.own if isinstance(version.own, dict) else {}
        if "ends" in own and not (given.config or {}).get("exact"):
            raise StackStops(own["ends"])
        if "lacks" in own:
            raise NoSuchModel(own["lacks"])
        keys = Keys(given.config or {})
        block = keys.part("rope_scaling")
        longest = keys.number("cap", "max_position_embeddings", default=4096)
        original = block.number("original length", "original_max_position_embeddings")
        over = Scaled(keys.number("base", "rope_theta", default=1e4), 64, longest, original, served)
        rule = "default"
        if "scaling" not in own or keys.values.get(own["scaling"]):
            rule = block.text("kind", "rope_type", "type", default="default")
        choices = PLAIN if keys.values.get("exact") else version.choices
        schedule = yarn(over, block, choices) if rule == "yarn" else scaling.unscaled(over)
        hum = keys.number("softmax", "attn_scale", default=1.0) if "softmax" in own else 1.0
        layer = LayerReading(ALL, 64, 64, over.base, rule, "half", schedule, softmax=hum)
        return Reading("small", version.name, "by reading", (layer,), int(longest), keys.used(), keys.ignored())

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        yield Remedy("sing", given.edited({"sing": True}))
        yield Remedy("add heard: true", given.edited({"heard": True}))
        yield Remedy(f"add exact: true for {wanted.rule} {wanted.factor:g}", given.edited({"exact": True}))


def small(version: str) -> Asked:
    """The small stack in one version."""
    return Small(), Small.version(version)


def side_by_side(given: Given, ours: str, reference: str = "obeys") -> Compared:
    """Two versions of the small stack on one file."""
    lengths = lengths_for(given)
    (stack, version), (_, other) = small(ours), small(reference)
    mine, theirs = (stack.reading(given, one, lengths.served) for one in (version, other))
    return Compared((stack, version), mine, theirs, lengths)
