"""PE101: one config states the rotary settings twice, and the two statements differ."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from gnomon.adapters.families.config_reader import ConfigReader
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.configs import config_parts
from gnomon.doctor.evidence.rope_blocks import positive
from gnomon.report.document import Finding, Measured

SAME_NUMBER = 1e-6  # relative
BASES_OF_KINDS = {
    "full_attention": ("global_rope_theta",),
    "sliding_attention": ("rope_local_base_freq", "local_rope_theta"),
}
LANES = ("rotary_dim", "rotary_ndims")
SHARES = ("partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_percentage")


@check("PE101", "rope-spellings-disagree", severity="error", needs=("config",))
def rope_spellings_disagree(subject: Subject) -> Iterator[Finding | Measured]:
    """The config gives one rotary setting under two names with two values.

    Why: transformers 5 keeps the base and the scaling in `rope_parameters`, version 4 in `rope_theta` and
    `rope_scaling`, and old files say `type` where new ones say `rope_type`. A rotated width is a count of lanes
    (`rotary_dim`, `rotary_ndims`) or a share of the head (`partial_rotary_factor`, `rotary_pct`). Each serving stack
    reads one of the spellings, so a file in which they differ is two models: one where it was made, another where it
    is served.

    Fix: decide which value the weights were trained with and write it under every spelling that the file has.

    Sources: DeepSpeed issue 8345 (every model at base 10000 after an upgrade), vLLM issue 28542, Unsloth issue 7028,
    transformers issue 48241 and vllm-ascend pull request 7252 (MiniMax-M2's `rotary_dim` beside a share);
    transformers 5.24 `modeling_rope_utils.py` for the order in which the spellings win.
    """
    pairs = [pair for prefix, part in config_parts(subject.config) for pair in _spellings(prefix, part)]
    if not pairs:
        raise MissingEvidence("the config states no rotary setting twice")
    differing = [(key, a, b) for key, a, b in pairs if not _same(a[1], b[1])]
    yield Measured("settings stated twice that differ", len(differing), 0, f"{len(pairs)} are stated twice")
    for key, (first, one), (second, other) in differing:
        yield Finding(
            "config.json",
            f"{first} says {one!r} but {second} says {other!r}: stacks that read different keys run different models",
            f"write the trained {key} under both {first} and {second}",
            {first: one, second: other},
        )


Statement = tuple[str, Any]


def _spellings(prefix: str, config: Mapping[str, Any]) -> Iterator[tuple[str, Statement, Statement]]:
    """Each setting that is stated twice: its name, and the two statements with their keys."""
    for key, (first, one), (second, other) in chain.from_iterable(read(config) for read in READERS):
        yield key, (prefix + first, one), (prefix + second, other)


def _flat(config: Mapping[str, Any]) -> Iterator[tuple[str, Statement, Statement]]:
    """Version 4 keys beside a flat `rope_parameters`."""
    modern, legacy = config.get("rope_parameters"), config.get("rope_scaling")
    if not isinstance(modern, Mapping) or any(isinstance(value, Mapping) for value in modern.values()):
        return
    for key in ("rope_theta", "partial_rotary_factor"):
        if key in modern and config.get(key) is not None:
            yield key, (key, config[key]), (f"rope_parameters.{key}", modern[key])
    if isinstance(legacy, Mapping):
        for key in sorted((set(modern) & set(legacy)) - {"type", "rope_type"}):
            yield key, (f"rope_scaling.{key}", legacy[key]), (f"rope_parameters.{key}", modern[key])
        kinds = [mapping.get("rope_type", mapping.get("type")) for mapping in (legacy, modern)]
        if None not in kinds:
            yield "rope type", ("rope_scaling.rope_type", kinds[0]), ("rope_parameters.rope_type", kinds[1])


def _nested(config: Mapping[str, Any]) -> Iterator[tuple[str, Statement, Statement]]:
    """Version 4 bases beside a `rope_parameters` for each kind of layer."""
    modern = config.get("rope_parameters")
    for kind, keys in BASES_OF_KINDS.items():
        block = modern.get(kind) if isinstance(modern, Mapping) else None
        inner = block.get("rope_theta") if isinstance(block, Mapping) else None
        for key in keys:
            if inner is not None and config.get(key) is not None:
                yield "rope_theta", (key, config[key]), (f"rope_parameters.{kind}.rope_theta", inner)


def _kinds(config: Mapping[str, Any]) -> Iterator[tuple[str, Statement, Statement]]:
    """`type` beside `rope_type`."""
    for name in ("rope_scaling", "rope_parameters"):
        block = config.get(name)
        if isinstance(block, Mapping) and "type" in block and "rope_type" in block:
            yield "rope type", (f"{name}.type", block["type"]), (f"{name}.rope_type", block["rope_type"])


def _original_length(config: Mapping[str, Any]) -> Iterator[tuple[str, Statement, Statement]]:
    """The trained length beside the block and in it (Phi-3): transformers takes the one beside it."""
    key = "original_max_position_embeddings"
    for name in ("rope_scaling", "rope_parameters"):
        block = config.get(name)
        inner = block.get(key) if isinstance(block, Mapping) else None
        if inner is not None and config.get(key) is not None:
            yield key, (key, config[key]), (f"{name}.{key}", inner)


def _widths(config: Mapping[str, Any]) -> Iterator[tuple[str, Statement, Statement]]:
    """The rotated width as a count and as a share of the head: each share in lanes."""
    head = ConfigReader(config).head_dim().integer
    shares = {key: config.get(key) for key in SHARES}
    block = config.get("rope_parameters")
    if isinstance(block, Mapping) and block.get("rope_type") != "proportional":
        shares["rope_parameters.partial_rotary_factor"] = block.get("partial_rotary_factor")
    lanes = {key: config[key] for key in LANES if positive(config.get(key)) is not None}
    lanes |= {key: int(head * part) for key, share in shares.items() if head and (part := positive(share))}
    first, *others = lanes or {"": 0}
    for other in others:
        if not (other.endswith(SHARES[0]) and first.endswith(SHARES[0])):  # `_flat` compares those
            yield "rotated width in lanes", (first, lanes[first]), (other, lanes[other])


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= SAME_NUMBER * max(abs(one), abs(other))
    return bool(one == other)


READERS = (_flat, _nested, _kinds, _original_length, _widths)
