"""Descriptions with the advice that is expected of them, reasoned from the sources named, before anything was run.

`first` is the name of the first recommendation. `options` and `numbers` are some of its own, worked out by hand in the
comments. `checks` must be among its risks, `out` among what is ruled out, `behind` after the first, in this order.
"""

from gnomon.advisor import ModelSizes
from tests.advisor.case import SMALL, Case
from tests.advisor.cases_checkpoints import CHECKPOINTS as OF_FAMILIES
from tests.advisor.cases_encoders import ALGORITHMS, ENCODERS
from tests.advisor.cases_grids import GRIDS
from tests.advisor.cases_lengths import LENGTHS
from tests.advisor.cases_sequences import SEQUENCES

#: The four rows of the article's table.
ARTICLE = (
    Case(
        # The article: sinusoids with RoPE. Press et al.: sinusoids fail at once. Rotary with the bound of the target,
        # 32768 -> 6.4e5 (Men et al., table 2), then an extension from 512: 32768 / 512 = 64, 0.1 ln 64 + 1 = 1.415888.
        name="article, long variable documents",
        given={"task": "summarisation", "trained": 512, "target": 32768, "sizes": SMALL},
        first="rotary",
        options={"head_dim": 64, "frequencies": {"kind": "plain", "base": 640000.0}},
        numbers={"factor": 64.0, "attention_factor": 1.415888},
        checks=("PE316", "PE513", "PE301"),
        out=("learned", "nope", "kerple"),
    ),
    Case(
        # 180 x 1.1 = 198 exactly; inputs above 198 are between 0 and 5 percent.
        name="article, absolute and stable",
        given={
            "task": "classification",
            "need": "absolute",
            "percentiles": {50: 90, 95: 180, 100: 240},
            "sizes": SMALL,
        },
        first="learned",
        options={"max_length": 198, "dim": 512, "init_std": 0.02},
        numbers={"p95": 180, "share_cut": 0.05},
        checks=("PE511", "PE703"),
        behind=("rotary",),
        out=("nope",),
    ),
    Case(
        name="article, coreference",
        given={"task": "pairs", "trained": 256, "sizes": SMALL},
        first="rotary",
        options={"frequencies": {"kind": "plain", "base": 10000.0}},
        checks=("PE312",),
        behind=("t5", "alibi"),
        out=("nope", "kerple"),
    ),
    Case(
        # 6 d of 24 d^2 is 1 / (4 x 256) = 0.098 percent of a layer: no reason for sinusoids.
        name="article, edge device",
        given={"task": "classification", "device": "edge", "trained": 128, "sizes": ModelSizes(dim=256, num_heads=4)},
        first="rotary",
        options={"head_dim": 64},
        checks=("PE312",),
        behind=("sinusoidal",),
        out=("nope",),
    ),
)

FROM_SCRATCH = (*SEQUENCES, *ENCODERS, *ALGORITHMS, *GRIDS)
CHECKPOINTS = (*OF_FAMILIES, *LENGTHS)
