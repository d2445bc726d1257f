"""Biases by distance: they have no row for each position, so nothing is resized, and the user is told what happens."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.claims import Claim
from gnomon.encodings.t5 import T5Bias
from gnomon.errors import GnomonError
from gnomon.extending.tables.found import model_claims
from gnomon.extending.tables.options import AUTO, METHODS
from gnomon.extending.tables.part import Part


def relative_parts(config: Mapping[str, Any], to: int, method: str, *, alone: bool) -> Iterator[Part]:
    """What T5, MPNet and DeBERTa make of longer inputs. `alone`: the model has no table of positions beside it.

    Raises GnomonError for a method of tables when there is nothing else to use it on, and for a table with a row for
    each distance up to the length (BERT's relative_key), which transformers 5 has given up.
    """
    claims = [claim for claim in model_claims(config) if claim.kind in ("t5", "deberta", "shaw")]
    for claim in claims:
        if claim.kind == "shaw":
            raise GnomonError(
                "The model has a learned vector for each distance up to its length (relative_key), and no published "
                "way makes such a table longer; train a model with rotations or buckets instead."
            )
    if claims and alone and method != AUTO and method in METHODS:
        raise GnomonError(
            f"The model has biases by distance and no row for each position, so there is nothing to {method}; use auto."
        )
    for claim in claims:
        words = _of_buckets(claim, to) if claim.kind == "t5" else _of_distances(claim, to)
        yield Part(length=to, words=words)


def _of_buckets(claim: Claim, to: int) -> tuple[str, ...]:
    options = {name: claim.options[name] for name in ("num_buckets", "max_distance", "direction")}
    bias = T5Bias(1, **options)
    last, exact = bias.bucket_starts[-1], bias.num_buckets // (2 if bias.causal_only else 4)
    side = "earlier keys" if options["direction"] == "causal" else "keys of one side"
    shared = f"From distance {last:,} on, all {side} share one bucket ({claim.where})"
    if to <= last:
        return (f"{shared}; inputs of {to:,} do not come so far.",)
    return (
        f"{shared}: it was trained, and {to:,} positions need no new rows.",
        f"A larger relative_attention_max_distance than {options['max_distance']:,} would move most distances from "
        f"{exact} on to other buckets than they were trained with, and more buckets are new rows; both need training.",
    )


def _of_distances(claim: Claim, to: int) -> tuple[str, ...]:
    reach = claim.options.get("max_distance")
    if "buckets" in claim.options:
        return (f"DeBERTa's distances from {reach:,} on share the last bucket; {to:,} positions need no new rows.",)
    return (f"DeBERTa's distances are cut at {reach:,}; {to:,} positions need no new rows.",)
