"""PE112: rotary parameters for each kind of layer that do not fit the kinds that the layers have."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.configs import config_parts
from gnomon.doctor.evidence.rope_blocks import RopeBlock, positive, rope_blocks
from gnomon.report.document import Finding, Measured

FULL, SLIDING = "full_attention", "sliding_attention"
KNOWN = (FULL, SLIDING, "chunked_attention")
#: families whose windowed layers keep their plain frequencies: Gemma 3 technical report, section 2; gpt-oss scales both
LOCAL_IS_PLAIN = ("gemma3", "gemma3_text", "gemma3n_text", "t5gemma2_text", "embedding_gemma2_text", "olmo3")
LOCAL_BASES = ("rope_local_base_freq", "local_rope_theta")


@check("PE112", "rope-by-layer-kind", severity="error", needs=("config",))
def rope_by_layer_kind(subject: Subject) -> Iterator[Finding | Measured]:
    """A kind of layer has no rotary parameters, has those of another kind, or is scaled though it only sees a window.

    Why: transformers 5 keeps a block for each kind of layer, older files one base for all, one for windowed layers and
    one scaling. In between, scaling lands on the wrong kind. Layers that see a window of 1,024 tokens never need it,
    and layers that see everything are lost without it.

    Fix: Gemma 3 from 4B on: full layers base 1,000,000 with linear factor 8, windowed layers base 10,000 without
    scaling. Give every kind in `layer_types` that rotates its own block.

    Sources: transformers pull request 41934 (scaling on the wrong kind after the change of format), ollama issue
    13452 and mlxcel pull request 1340 (never used on full layers), ferrox pull request 39 (used on windowed layers).
    """
    parts = [(prefix, part, blocks) for prefix, part in config_parts(subject.config) if (blocks := _by_kind(part))]
    if not parts:
        raise MissingEvidence("the config has one set of rotary parameters for all layers")
    found = [
        Finding(prefix + finding.where, finding.message, finding.fix, finding.measured, finding.severity)
        for prefix, part, blocks in parts
        for finding in (*_missing(part, blocks), *_scaled(part, blocks), *_bases(part, blocks), *_beside(part, blocks))
    ]
    yield Measured("kinds of layers with wrong parameters", len(found), 0, f"{len(parts)} parts of the config read")
    yield from found


def _by_kind(part: Mapping[str, Any]) -> dict[str, RopeBlock]:
    """The block of each kind of layer. A version 4 file scales the full layers and gives the others a base."""
    own = [block for block in rope_blocks(part) if block.part is part]
    blocks = {block.layer_kind: block for block in own if block.layer_kind}
    if not blocks and any(positive(part.get(key)) for key in LOCAL_BASES):
        blocks = {FULL: own[0] if own else RopeBlock("config.json", {}, part)}
    return {str(kind): block for kind, block in blocks.items()}


def _missing(part: Mapping[str, Any], blocks: Mapping[str, RopeBlock]) -> Iterator[Finding]:
    """Kinds with layers and no block. An explicit null says that the kind does not rotate."""
    listed, stated = part.get("layer_types"), part.get("rope_parameters")
    if not isinstance(listed, list | tuple) or not isinstance(stated, Mapping) or set(blocks) - {*KNOWN}:
        return
    kinds = dict.fromkeys(map(str, listed))
    for kind in kinds:
        if kind in KNOWN and kind not in stated:
            yield Finding(
                "rope_parameters",
                f"{kind} is the kind of {list(listed).count(kind)} layers and has no rotary parameters",
                f"add rope_parameters.{kind}, or null there if its layers do not rotate",
                {"layers": list(listed).count(kind)},
            )
    idle = [kind for kind in blocks if kind not in kinds]
    if idle and not set(kinds) & set(blocks):
        yield Finding(
            f"rope_parameters.{idle[0]}",
            f"no layer is of kind {idle[0]}; the layers are {', '.join(kinds)}",
            "name the blocks as layer_types names the layers",
            {"kinds": list(kinds)},
        )


def _beside(part: Mapping[str, Any], blocks: Mapping[str, RopeBlock]) -> Iterator[Finding]:
    """Settings that stand beside the blocks of the kinds, where no kind reads them."""
    stated = part.get("rope_parameters")
    if not isinstance(stated, Mapping) or not set(blocks) & set(stated):
        return
    lone = [key for key, value in stated.items() if value is not None and key not in blocks]
    for key in lone:
        yield Finding(
            f"rope_parameters.{key}",
            f"{key} stands beside the blocks of {', '.join(blocks)}: no kind of layer reads it",
            f"write {key} into the block of each kind that it is for",
            {"key": key},
            severity="warning",
        )


def _scaled(part: Mapping[str, Any], blocks: Mapping[str, RopeBlock]) -> Iterator[Finding]:
    """Windowed layers that are scaled while full ones are not, or in a family that does not scale them."""
    local, full = blocks.get(SLIDING), blocks.get(FULL)
    factor = _factor(local)
    if local is None or factor is None:
        return
    family, window = part.get("model_type") in LOCAL_IS_PLAIN, positive(part.get("sliding_window"))
    alone = full is not None and _factor(full) is None
    if not family and not alone:
        return
    elsewhere = "; full layers have none" if alone else ""
    seen = f" though they see {window:g} tokens" if window else ""
    yield Finding(
        local.where,
        f"windowed layers are scaled ({local.rule}, factor {factor:g}){seen}{elsewhere}",
        f"move the scaling to rope_parameters.{FULL}: windowed layers keep base "
        f"{positive(local.values.get('rope_theta')) or 10_000:g} with rope_type default (scale 1.0)",
        {"factor": factor},
        severity="error" if family else "warning",
    )


def _bases(part: Mapping[str, Any], blocks: Mapping[str, RopeBlock]) -> Iterator[Finding]:
    """Layers that see a window with a larger base than those that see everything: seldom meant."""
    stated = next(((key, base) for key in LOCAL_BASES if (base := positive(part.get(key)))), None)
    local, full = (b.number("rope_theta") if (b := blocks.get(kind)) else None for kind in (SLIDING, FULL))
    place = f"rope_parameters.{SLIDING}.rope_theta"
    if SLIDING not in blocks and stated is not None:
        place, local = stated
        full = positive(part.get("global_rope_theta")) or full
    if local is not None and full is not None and local > full:
        yield Finding(
            place,
            f"windowed layers have base {local:g}, layers that see everything {full:g}: the two seem exchanged",
            f"exchange them: base {full:g} for windowed layers, {local:g} for full ones",
            {"windowed": local, "full": full},
            severity="warning",
        )


def _factor(block: RopeBlock | None) -> float | None:
    """By how much a block scales; None for not at all."""
    if block is None or block.rule in ("default", "proportional", "axial"):
        return None
    factor = positive(block.values.get("factor"))
    return factor if factor != 1 else None
