"""Cases of new models on text and other sequences."""

from gnomon.advisor import ModelSizes
from tests.advisor.case import SMALL, Case

SEQUENCES = (
    Case(
        # Press et al.: ALiBi 18.36 at 5512 of 512, rotary 43.14, T5 29.54. Slopes of 8 heads: 1/2 .. 1/256.
        name="train short, test long",
        given={"task": "language-model", "trained": 512, "target": 4096, "sizes": SMALL},
        first="alibi",
        options={"num_heads": 8, "form": "causal"},
        numbers={"slopes": [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.007812, 0.003906]},
        checks=("PE612", "PE401", "PE510"),
        behind=("kerple", "rotary", "sinusoidal"),
        out=("learned",),
    ),
    Case(
        # At twice the length T5's bias holds (18.79 at 1012 of 512) and stays before rotary.
        name="twice the length",
        given={"task": "language-model", "trained": 1024, "target": 2048, "sizes": SMALL},
        first="alibi",
        checks=("PE308",),
        behind=("t5", "rotary", "sinusoidal"),
        out=("learned",),
    ),
    Case(
        # Nothing beyond training: rotary. Base at 8192: 8.4e4.
        name="language model within its length",
        given={
            "task": "language-model",
            "trained": 8192,
            "device": "server",
            "sizes": ModelSizes(dim=2048, num_heads=16, num_layers=24),
        },
        first="rotary",
        options={"head_dim": 128, "layout": "half", "frequencies": {"kind": "plain", "base": 84000.0}},
        numbers={"least_base": 84000.0, "base": 84000.0},
        checks=("PE312", "PE403", "PE301", "PE405", "PE608"),
        behind=("alibi", "sinusoidal"),
    ),
    Case(
        # Between 8192 (8.4e4) and 16384 (3.1e5): ln(12000/8192)/ln 2 = 0.550747; 84000 x (310/84)^0.550747 = 172424,
        # rounded up to two digits 180000.
        name="base between two rows",
        given={"task": "code", "trained": 12000, "sizes": SMALL},
        first="rotary",
        options={"frequencies": {"kind": "plain", "base": 180000.0}},
        checks=("PE312",),
        behind=("alibi",),
    ),
    Case(
        # ALiBi needs a bias; the kernel takes none. Factor 4096 / 512 = 8, 0.1 ln 8 + 1 = 1.207944.
        name="fused attention without bias",
        given={"task": "language-model", "trained": 512, "target": 4096, "limits": ["no-bias"], "sizes": SMALL},
        first="rotary",
        numbers={"factor": 8.0, "attention_factor": 1.207944, "base": 27000.0},
        checks=("PE513",),
        out=("alibi", "t5", "kerple", "transformer_xl", "learned"),
    ),
    Case(
        name="flash attention takes slopes",
        given={"task": "language-model", "trained": 512, "target": 4096, "limits": ["flash-attention"], "sizes": SMALL},
        first="alibi",
        checks=("PE612",),
        behind=("rotary",),
        out=("t5", "kerple", "transformer_xl", "learned"),
    ),
    Case(
        # DroPE: ALiBi finds 5.2, 0, 1.1 at twice the length; rotary with YaRN 17.8, 0.5, 14.6.
        name="find facts far back",
        given={"task": "long-context", "trained": 8192, "target": 65536, "sizes": SMALL},
        first="rotary",
        options={"frequencies": {"kind": "plain", "base": 2100000.0}},
        numbers={"factor": 8.0},
        checks=("PE510", "PE313"),
        behind=("alibi", "t5"),
        out=("learned",),
    ),
    Case(
        # Learned would win, but 800 / 20 = 40 gradients for the rows above the 95th percentile.
        name="absolute with few examples",
        given={"task": "classification", "need": "absolute", "trained": 128, "examples": 800, "sizes": SMALL},
        first="rotary",
        checks=("PE312",),
        behind=("learned",),
        out=("nope",),
    ),
    Case(
        # Nothing may be cut: 300 > 198.
        name="absolute and nothing cut",
        given={
            "task": "translation",
            "need": "absolute",
            "percentiles": {50: 40, 95: 180, 100: 300},
            "cut": False,
            "sizes": SMALL,
        },
        first="learned",
        options={"max_length": 300},
        numbers={"share_cut": 0.0},
        checks=("PE511", "PE705"),
        behind=("rotary",),
    ),
    Case(
        # Inputs end at 2500 in use, training at 500: rows 500 to 2499 would be noise. No encoding tells positions
        # there; rotary at least sees a start token, which ALiBi's penalty hides.
        name="absolute beyond training",
        given={"task": "tagging", "need": "absolute", "trained": 500, "target": 2500, "sizes": SMALL},
        first="rotary",
        checks=("PE513",),
        behind=("alibi",),
        out=("learned", "nope", "kerple"),
    ),
    Case(
        # Inputs of up to 400 tokens, served to 256: up to 5 percent are longer, as the 95th percentile is 200.
        name="inputs beyond the target",
        given={"task": "retrieval", "percentiles": {50: 90, 95: 200, 100: 400}, "trained": 256, "target": 256},
        first="rotary",
        checks=("PE701",),
        behind=("learned",),
    ),
    Case(
        name="tagging in both directions",
        given={"task": "tagging", "trained": 256, "sizes": ModelSizes(dim=768, num_heads=12)},
        first="rotary",
        options={"head_dim": 64},
        checks=("PE312",),
        behind=("t5", "learned"),
    ),
    Case(
        # 95th of 1..100 by nearest rank is 95; 95 x 1.1 = 104.5, so 105 rows, and none of the inputs is cut.
        name="lengths one by one",
        given={"task": "classification", "need": "absolute", "lengths": list(range(1, 101)), "sizes": SMALL},
        first="learned",
        options={"max_length": 105},
        numbers={"p95": 95, "share_cut": 0.0},
        checks=("PE511",),
    ),
    Case(
        # Huang et al.: a learned table with random offsets 0.9986 at twice the length, no encoding 0.18. Span 2 x 100.
        name="copy at longer lengths",
        given={"task": "algorithmic", "trained": 50, "target": 100, "sizes": ModelSizes(dim=64, num_heads=1)},
        first="randomized",
        options={"inner": {"encoding": "learned", "max_length": 200, "dim": 64}, "max_length": 100, "span": 200},
        checks=("PE303",),
        behind=("rotary", "sinusoidal"),
        out=("learned",),
    ),
    Case(
        # 8 x 2048 tokens for the sums; a table has an end.
        name="a stream without end",
        given={"task": "language-model", "trained": 2048, "unlimited": True, "sizes": SMALL},
        first="alibi",
        checks=("PE513",),
        behind=("rotary",),
        out=("learned",),
    ),
    Case(
        # 4 x 16 heads x 32768^2 bytes = 64 GiB for a whole bias: T5 loses, rotary stays. 6.4e5 at 32768.
        name="long training from scratch",
        given={"task": "language-model", "trained": 32768, "sizes": ModelSizes(dim=1024, num_heads=16)},
        first="rotary",
        options={"frequencies": {"kind": "plain", "base": 640000.0}},
        checks=("PE313",),
        behind=("alibi", "t5"),
    ),
    Case(
        name="edge with long prompts",
        given={"task": "language-model", "device": "edge", "trained": 512, "target": 2048, "sizes": SMALL},
        first="alibi",
        checks=("PE304",),
        behind=("rotary",),
    ),
    Case(
        name="search vectors for ONNX",
        given={"task": "retrieval", "trained": 512, "limits": ["onnx"], "sizes": SMALL},
        first="rotary",
        checks=("PE607", "PE613", "PE614"),
        behind=("alibi",),
        out=("nope",),
    ),
    Case(
        name="compiled, own operations only",
        given={
            "task": "language-model",
            "trained": 1024,
            "limits": ["torch-compile", "no-custom-kernels"],
            "sizes": SMALL,
        },
        first="rotary",
        checks=("PE615",),
        behind=("alibi", "t5"),
    ),
    Case(
        # 12 heads: 1/2 .. 1/256 for 8, then every other slope of 16: 2^-0.5, 2^-1.5, 2^-2.5, 2^-3.5.
        name="ALiBi with twelve heads",
        given={"task": "language-model", "trained": 512, "target": 2048, "sizes": ModelSizes(dim=768, num_heads=12)},
        first="alibi",
        numbers={
            "slopes": [
                *(0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.007812, 0.003906),
                *(0.707107, 0.353553, 0.176777, 0.088388),
            ]
        },
        checks=("PE308",),
    ),
)
