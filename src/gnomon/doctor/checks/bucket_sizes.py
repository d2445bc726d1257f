"""PE118: buckets of distances that the config sizes so that they cannot work."""

import math
from collections.abc import Iterator
from typing import Any

from gnomon.adapters.families.config_reader import ConfigReader
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.configs import config_parts
from gnomon.report.document import Finding, Measured

BUCKETS = ("relative_attention_num_buckets", "position_buckets", "num_buckets")
FURTHEST = ("relative_attention_max_distance", "max_relative_positions", "max_bucket_distance")
LENGTH = ("max_position_embeddings", "n_positions")


@check("PE118", "bucket-sizes", severity="error", needs=("config",))
def bucket_sizes(subject: Subject) -> Iterator[Finding | Measured]:
    """Relative distances are put into too few buckets, or into buckets whose widest distance is below the exact ones.

    Why: T5 gives one bucket to each short distance, up to a half of the buckets of a direction, and spaces the others
    by the logarithm of distance over that number, up to the largest distance. With a largest distance at or below the
    exact ones the logarithm is zero or negative: indices are wrong or not a number. An odd number of buckets does not
    split into two directions.

    Fix: T5's own sizes are 32 buckets and a largest distance of 128; keep the distance above a quarter of the buckets
    in an encoder, above half of them in a decoder.

    Sources: Raffel et al. 2020, arXiv:1910.10683, section 2.1, and the bucket function of transformers 5.24; DeBERTa,
    arXiv:2006.03654.
    """
    parts = [(prefix, ConfigReader(part)) for prefix, part in config_parts(subject.config)]
    judged = [(prefix, reader, *_sizes(reader)) for prefix, reader in parts if _sizes(reader)[0] is not None]
    if not judged:
        raise MissingEvidence("the config states no number of buckets of distances")
    for prefix, reader, buckets, furthest, key in judged:
        yield Measured(
            f"{prefix}{key}", buckets, furthest if furthest is not None else "any", "and the largest distance"
        )
        where = f"{prefix}{key}"
        if not _is_count(buckets) or buckets < 2:
            yield Finding(
                where, f"{key} is {buckets!r}", "write a whole number of at least 2; T5 has 32", {key: buckets}
            )
            continue
        exact = buckets // (2 if _decodes(reader) else 4)
        if furthest is not None and furthest <= exact:
            yield Finding(
                where,
                f"{buckets} buckets keep distances up to {exact} apart, and the largest distance "
                f"is {furthest:g}: the logarithm between them is not positive",
                f"state a largest distance above {exact}; T5 has 128 for 32 buckets",
                {"buckets": buckets, "largest distance": furthest},
            )
        elif buckets % 2:
            yield Finding(
                where,
                f"{buckets} buckets do not split into two directions",
                f"write {buckets + 1} or {buckets - 1}",
                {"buckets": buckets},
                severity="warning",
            )


def _sizes(reader: ConfigReader) -> tuple[Any, float | None, str]:
    """Buckets (None: not stated, or switched off by a number below 1), the largest distance, the key of the buckets."""
    found = reader.find(*BUCKETS)
    off = found.key == "position_buckets" and isinstance(found.value, int) and found.value < 1
    furthest = reader.find(*FURTHEST).value
    if not isinstance(furthest, int | float) or isinstance(furthest, bool) or not 0 < furthest < math.inf:
        furthest = reader.find(*LENGTH).integer if found.key == "position_buckets" else None
    return (None if off else found.value), furthest, found.key


def _decodes(reader: ConfigReader) -> bool:
    """Whether a stack looks backwards only, and so has all buckets for one direction."""
    return any(reader.config.get(key) is True for key in ("is_encoder_decoder", "is_decoder"))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
