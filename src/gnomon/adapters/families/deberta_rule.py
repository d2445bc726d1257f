"""The rule for DeBERTa: content meets position through a table of distances, in buckets in versions 2 and 3."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from gnomon.adapters.claims import Claim
from gnomon.adapters.families.config_reader import HEADS, LENGTH, WIDTH, ConfigReader, Found
from gnomon.adapters.families.rules import ATTENTION, Rule, claim
from gnomon.adapters.plausible import MOST_HEADS

TABLE = r"(^|\.)encoder\.rel_embeddings\.weight$"


@final
@dataclass(frozen=True)
class Disentangled(Rule):
    """`max_relative_positions` below 1 stands for the stated length, and `position_buckets` below 1 for no buckets."""

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        heads, width, head, reach = config.find(*HEADS), config.find(*WIDTH), config.head_dim(), _reach(config)
        terms = config.find("pos_att_type", default=[])
        listed = terms.value.lower().split("|") if isinstance(terms.value, str) else terms.value
        found = {"terms": Found([str(term).strip() for term in listed] if isinstance(listed, list) else [], terms.key)}
        if heads.up_to(MOST_HEADS):
            found["num_heads"] = heads
        found |= {name: item for name, item in (("head_dim", head), ("dim", width)) if item.integer}
        if reach.integer:
            found["max_distance"] = reach
        if (buckets := config.find("position_buckets")).integer:
            found["buckets"] = buckets
        normed = config.find("norm_rel_ebd", default="none")
        if isinstance(normed.value, str) and "layer_norm" in normed.value.lower():
            found["norm_eps"] = config.find("layer_norm_eps", default=1e-7)
        yield claim("deberta", ATTENTION, found, (TABLE,))


def _reach(config: ConfigReader) -> Found:
    stated = config.find("max_relative_positions")
    return stated if stated.integer else config.find(*LENGTH)
