"""PE102: the scaling block of a config lacks a key it needs, or holds a value that cannot be."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.rope_blocks import rope_blocks
from gnomon.doctor.evidence.scaling_rules import problems_of
from gnomon.report.document import Finding, Measured


@check("PE102", "rope-scaling-fields", severity="error", needs=("config",))
def rope_scaling_fields(subject: Subject) -> Iterator[Finding | Measured]:
    """The rotary scaling block lacks a required key, has an impossible value, or is of a kind nobody knows.

    Why: transformers only logs a warning about a bad scaling block and carries on, so the model may run without
    scaling or with a default. Short prompts then look right, because scaling matters most beyond the trained length.

    Fix: give the keys that the kind needs: linear and dynamic take `factor` (at least 1); yarn `factor` and, where the
    stated length is not the trained one, `original_max_position_embeddings`; llama3 also `low_freq_factor` not above
    `high_freq_factor`; longrope `short_factor` and `long_factor` with one number for each rotated pair. The stated
    length is factor times the original one, except for llama3, whose factor is not the ratio of its lengths.

    Sources: transformers 5.24 `modeling_rope_utils.py` (required keys, ranges, warnings); optimum-habana issue 1154,
    transformers issue 38224 (a YaRN factor replaced by the ratio of the lengths), llama.cpp issue 17459 (the server's
    cap stays at the trained length), ik_llama.cpp issue 2003 (the scale written as the share of extrapolation).
    """
    blocks = list(rope_blocks(subject.config))
    if not blocks:
        raise MissingEvidence("the config has no rope_scaling and no rope_parameters")
    problems = [(block.where, problem) for block in blocks for problem in problems_of(block)]
    yield Measured("problems in scaling blocks", len(problems), 0, f"{len(blocks)} blocks read")
    for where, problem in problems:
        yield Finding(where, problem.message, problem.fix, severity=problem.severity)
