"""Cases of encoders beyond their length, and of exact rules: tables of causal language models do not decide there."""

from tests.advisor.case import SMALL, Case

ENCODERS = (
    Case(
        # Everything published beyond the trained length is perplexity of causal models, so it counts half: ALiBi
        # 2 - 1 (left from right), rotary 3 - 2. Equal, and rotary comes first. Bound at 4096: 27000. 4096 / 1024 = 4;
        # 0.1 ln 4 + 1 = 1.138629.
        name="an encoder of contracts, trained at a quarter",
        given={"task": "classification", "trained": 1024, "target": 4096, "sizes": SMALL},
        first="rotary",
        options={"frequencies": {"kind": "plain", "base": 27000.0}},
        numbers={"factor": 4.0, "attention_factor": 1.138629},
        checks=("PE513",),
        behind=("alibi", "t5", "sinusoidal"),
        out=("learned", "nope", "kerple"),
    ),
    Case(
        # An extension ends at some length, and these inputs do not: rotary 3 - 3 behind ALiBi's 2 - 1.
        name="an encoder of a stream",
        given={"task": "retrieval", "trained": 512, "unlimited": True, "sizes": SMALL},
        first="alibi",
        options={"form": "asymmetric"},
        checks=("PE513",),
        behind=("rotary",),
        out=("learned", "nope"),
    ),
    Case(
        # Relations, and inputs up to four times as long: rotary 3 - 2 + 2, ALiBi 2 - 1 + 1, T5 0 + 2.
        name="coreference in longer texts",
        given={"task": "pairs", "trained": 256, "target": 1024, "sizes": SMALL},
        first="rotary",
        checks=("PE513",),
        behind=("alibi", "t5"),
        out=("learned", "nope"),
    ),
    Case(
        # At twice the length T5's bias holds (18.79 at 1012 of 512): 1 + 2, as rotary's 3 - 2 + 2; rotary is first.
        name="coreference in texts twice as long",
        given={"task": "pairs", "trained": 512, "target": 1024, "sizes": SMALL},
        first="rotary",
        checks=("PE513",),
        behind=("t5", "alibi"),
    ),
)
ALGORITHMS = (
    Case(
        # Kazemnejad et al., figure 1: none 0.69, T5 0.55, ALiBi 0.50, rotary 0.33, sinusoids 0.22. Random ids first
        # (Huang et al.); none is learned slowly by small models, so it is not second: 3 - 3. Rotary 4 - 4.
        name="sums at twice the length",
        given={"task": "algorithmic", "trained": 20, "target": 40, "sizes": SMALL},
        first="randomized",
        checks=("PE303",),
        behind=("t5", "alibi", "rotary", "nope", "sinusoidal"),
        out=("learned",),
    ),
)
