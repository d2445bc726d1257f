"""PE107: the file leaves the base or the rotated share to its reader, in a family where they are not the usual ones."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.families.published import PLAIN_BASE, code_base, code_share, published
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import claims
from gnomon.doctor.evidence.configs import config_parts
from gnomon.doctor.evidence.rope_blocks import NAMES
from gnomon.report.document import Finding, Measured, Severity

BASES = ("rope_theta", "rotary_emb_base", "rotary_embedding_base", "global_rope_theta", "rope_base", "layer_rope_theta")
SHARES = ("partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_dim", "rotary_ndims")
SCALED = ("linear", "dynamic", "yarn", "longrope", "su", "llama3")
MADE_BY_TRANSFORMERS = ("architectures", "transformers_version")


@check("PE107", "base-not-stated", severity="warning", needs=("config",))
def base_not_stated(subject: Subject) -> Iterator[Finding | Measured]:
    """The file states no rotary base, or no rotated share, in a family where a reader's usual guess is wrong.

    Why: a program that finds no base takes 10,000, and one that finds no share rotates the whole head. The family's own
    code may know better, the next program does not: a GGUF file without `rope.freq_base`, a scaling block that
    replaced the one in which `rope_theta` stood, a GLM config without its factor of 0.5. Text is fluent at first and
    falls apart as it grows.

    Fix: write the base and the share into the file, even where they are the family's default.

    Sources: ollama issue 2379 (Qwen 1.5 at base 10,000), mlx-lm pull request 1698 (GLM rotated whole), Unsloth issue
    7028 (a linear block without theta), DeepSpeed issue 8345; defaults as in the code of transformers 5.24.
    """
    parts = [(prefix, part) for prefix, part in config_parts(subject.config) if isinstance(part.get("model_type"), str)]
    if not parts:
        raise MissingEvidence("the config has no model_type, so that its family's defaults cannot be known")
    if not any(_may_rotate(part) for _, part in parts) and not _claimed(subject):
        raise MissingEvidence("nothing in the config says that it rotates queries and keys")
    own = any(key in subject.config for key in MADE_BY_TRANSFORMERS)
    found = [finding for prefix, part in parts for finding in _judge(prefix, part, subject.config, own=own)]
    yield Measured("settings left to the reader", len(found), 0, "that the usual guess gets wrong")
    yield from found


def _judge(prefix: str, part: Mapping[str, Any], whole: Mapping[str, Any], *, own: bool) -> Iterator[Finding]:
    kind, known = part["model_type"], published(part)
    where = prefix.rstrip(".") or "config.json"
    severity: Severity = "note" if own else "warning"  # transformers fills in its own default
    if not _states(part, BASES) and "text_config" not in part:
        base, trained = code_base(kind), known.base if known else None
        if trained is not None and trained != base:
            message = (
                f"no rotary base is stated: readers take {base:g}, {known.name if known else kind} has {trained:g}"
            )
            yield Finding(where, message + _block(part), f"write rope_theta: {trained:g}", {"base": trained})
        elif base != PLAIN_BASE:
            message = (
                f"no rotary base is stated: {kind} has {base:g}, programs without that default take {PLAIN_BASE:g}"
            )
            yield Finding(where, message, f"write rope_theta: {base:g}", {"base": base}, severity=severity)
        elif _block(part) and part is whole:
            yield Finding(
                where,
                f"a scaling block is given and no base beside or in it: readers take {base:g}",
                "write the rope_theta that the weights were trained with into the block",
                {"base": base},
                severity="note",
            )
    share = code_share(kind)
    if share != 1 and not _states(part, SHARES):
        message = f"no rotated share is stated: {kind} rotates {share:g} of a head, programs without that default all"
        yield Finding(where, message, f"write partial_rotary_factor: {share:g}", {"share": share}, severity=severity)


def _may_rotate(part: Mapping[str, Any]) -> bool:
    kind = part["model_type"]
    stated = _states(part, BASES) or any(isinstance(part.get(name), Mapping) for name in NAMES)
    return stated or code_base(kind) != PLAIN_BASE or code_share(kind) != 1 or published(part) is not None


def _claimed(subject: Subject) -> bool:
    return any(claim.kind in ("rotary", "mrope") for claim in claims(subject))


def _states(part: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    """Whether one of `keys` has a value in the part or in a rotary block of it."""
    places = [part, *(part[name] for name in NAMES if isinstance(part.get(name), Mapping))]
    places += [inner for place in places[1:] for inner in place.values() if isinstance(inner, Mapping)]
    return any(place.get(key) is not None for place in places for key in keys)


def _block(part: Mapping[str, Any]) -> str:
    """What to say of a scaling block, empty when there is none."""
    kinds = [
        part[name].get("rope_type") or part[name].get("type") for name in NAMES if isinstance(part.get(name), Mapping)
    ]
    scaled = [kind for kind in kinds if kind in SCALED]
    return f"; the {scaled[0]} block has lost it" if scaled else ""
