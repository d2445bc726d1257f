"""PE117: a key of the config that is nearly a key of positions, or is what another program calls one."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import claims
from gnomon.doctor.evidence.configs import config_parts
from gnomon.report.document import Finding, Measured

KNOWN = (
    *("rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor", "rotary_pct", "rotary_emb_base"),
    *("rotary_dim", "max_position_embeddings", "n_positions", "original_max_position_embeddings", "rope_interleave"),
    *("position_embedding_type", "no_rope_layers", "no_rope_layer_interval", "layer_types", "sliding_window"),
    *("sliding_window_pattern", "use_sliding_window", "rope_local_base_freq", "global_rope_theta", "local_rope_theta"),
    *("relative_attention_num_buckets", "relative_attention_max_distance", "max_relative_positions"),
    *("position_buckets", "max_source_positions", "max_target_positions", "qk_rope_head_dim"),
)
#: keys of other families that only look like these
OTHERS = ("layer_type", "sliding_windows", "position_embeddings_type", "qk_nope_head_dim")
#: what Megatron, torchtune, llama.cpp and Keras call them
ELSEWHERE = {
    "rotary_base": "rope_theta",
    "rope_base": "rope_theta",
    "rope_freq_base": "rope_theta",
    "rope_max_wavelength": "rope_theta",
    "rotary_percent": "partial_rotary_factor",
    "rotary_percentage": "partial_rotary_factor",
    "rope_scaling_factor": "rope_scaling",
    "rope_factor": "rope_scaling",
}
ALLOWED = 2  # letters that may differ, in one word of the key


@check("PE117", "misspelt-keys", severity="warning", needs=("config",))
def misspelt_keys(subject: Subject) -> Iterator[Finding | Measured]:
    """A key is spelt almost as one that readers know, which is absent; or as another program spells it.

    Why: a config keeps every key that it is given. `rope_thetha`, `rope-scaling`, or Megatron's `rotary_base` in a file
    for transformers are stored, shown and saved again, and the model runs with the default.

    Fix: rename the key.

    Sources: the keys that transformers 5.24 reads; Megatron-LM's, torchtune's, llama.cpp's and Keras's names for them.
    """
    parts = list(config_parts(subject.config))
    if not any(part for _, part in parts):
        raise MissingEvidence("the config is empty")
    rotary = any(claim.kind in ("rotary", "mrope") for claim in claims(subject))
    found = [
        (prefix + str(key), meant)
        for prefix, part in parts
        for key in part
        if (meant := _meant(str(key), part, rotary=rotary)) is not None
    ]
    yield Measured("keys that nothing reads", len(found), 0, f"of {sum(len(part) for _, part in parts)}")
    for key, meant in found:
        yield Finding(
            key,
            f"nothing reads {key}; readers look for {meant} and find none",
            f"rename {key} to {meant}",
            {key: meant},
        )


def _meant(key: str, part: Mapping[str, Any], *, rotary: bool) -> str | None:
    """The key that is meant, when it is absent and this is no key of its own."""
    if key in KNOWN or key in OTHERS or part[key] is None:
        return None
    if key in ELSEWHERE:
        there = ELSEWHERE[key]
        return there if rotary and part.get(there) is None and part.get("rope_parameters") is None else None
    words = _words(key)
    for known in KNOWN:
        if part.get(known) is None and _nearly(words, known.split("_")):
            return known
    return None


def _words(key: str) -> list[str]:
    """The words of a key, in small letters, however they are joined."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key.strip()).replace("-", "_").replace(" ", "_").lower().split("_")


def _nearly(words: list[str], known: list[str]) -> bool:
    """The same words, of which one may be off by a letter or two."""
    if len(words) != len(known):
        return False
    differing = [(one, other) for one, other in zip(words, known, strict=True) if one != other]
    if not differing:
        return True
    return len(differing) == 1 and len(differing[0][1]) > 3 and 0 < _edits(*differing[0]) <= _allowed(differing[0][1])


def _allowed(word: str) -> int:
    return ALLOWED if len(word) > 5 else 1


def _edits(one: str, other: str) -> int:
    """Letters to add, drop, change, or swap with the next, to make one word of the other (Levenshtein, and swaps)."""
    if abs(len(one) - len(other)) > ALLOWED:
        return ALLOWED + 1
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(rows[-1][j] + 1, row[j - 1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]
