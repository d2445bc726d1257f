"""PE110: the config states more positions than its base was ever trained for, and no scaling."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.families.published import published
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.configs import config_parts
from gnomon.doctor.evidence.rope_blocks import positive
from gnomon.doctor.evidence.rotary_settings import RotarySettings, rotary_settings
from gnomon.report.document import Finding, Measured

SMALL_BASE = 10_000.0
LONGEST_AT_SMALL_BASE = 8192  # Gemma 2 and Granite; Mistral 0.1 states 32768 with windows of 4096
FACTORS = "rope_freqs.weight"  # a GGUF file of Llama 3.1 keeps its scaling in this tensor, a divisor for each pair
DECODERS = ("llama", "mistral", "qwen2", "qwen2_moe", "phi3", "gemma", "stablelm", "mixtral", "olmo2", "gpt_neox")


@check("PE110", "base-too-small", severity="warning", needs=("config",))
def base_too_small(subject: Subject) -> Iterator[Finding | Measured]:
    """A rotary decoder states a length that no published weights reach with its base, and has no scaling block.

    Why: `max_position_embeddings` alone extends nothing. Beyond the trained length the slow pairs reach angles they
    never had, and the output turns to blanks and repetition. A file like this has usually lost the `rope_scaling` that
    its weights were tuned with.

    Fix: put back the scaling block of the tuning (kind and factor), or state the length that was trained. Ignore this
    for weights that really were trained at that length with this base.

    Sources: LongLoRA issue 181 (uploaded without its linear factor of 4), Xiong et al. 2023, arXiv:2309.16039 and
    Men et al. 2024, arXiv:2405.14591 (how long a base carries).
    """
    parts = [(prefix, rotary_settings(part)) for prefix, part in config_parts(subject.config) if _judged(part)]
    if not parts:
        raise MissingEvidence("no rotary decoder whose published lengths are known")
    source = attempt(lambda s: s.tensors, subject)
    by_tensor = source is not None and any(info.name == FACTORS for info in source.infos())
    for prefix, settings in parts:
        yield from _judge(prefix, settings, scaled=bool(settings.scalings) or by_tensor)


def _judged(part: Mapping[str, Any]) -> bool:
    return part.get("model_type") in DECODERS and positive(part.get("max_position_embeddings")) is not None


def _judge(prefix: str, settings: RotarySettings, *, scaled: bool) -> Iterator[Finding | Measured]:
    base, length, known = settings.base(""), settings.length or 0.0, published(settings.part)
    limit: float | None = LONGEST_AT_SMALL_BASE if base and base.value <= SMALL_BASE else None
    whose = f"base {SMALL_BASE:g}"
    if known and known.trained and base and base.value <= known.base:
        limit, whose = known.trained, known.name
    if limit is None or scaled or _slides(settings.part):
        yield Measured("stated positions", length, "any", "scaled, in windows, or with a base made for more")
        return
    yield Measured("stated positions", length, limit, f"the longest that was trained with {whose} and no scaling")
    if length > limit:
        yield Finding(
            prefix.rstrip(".") or "config.json",
            f"{length:g} positions are stated with base {base.value if base else SMALL_BASE:g} and no scaling; "
            f"{whose} was trained to {limit:g}",
            f"put back the rope_scaling of the tuning (linear: {length / limit:g}), or state {limit:g} positions",
            {"stated": length, "trained": limit},
        )


def _slides(part: Mapping[str, Any]) -> bool:
    return positive(part.get("sliding_window")) is not None and part.get("use_sliding_window") is not False
