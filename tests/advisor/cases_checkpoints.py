"""Cases that start from a checkpoint: its config, and the case."""

from gnomon.advisor import ModelSizes
from tests.advisor.case import Case
from tests.advisor.configs import (
    BERT,
    BLOOM,
    DEBERTA,
    DINO,
    GEMMA,
    LLAMA_4K,
    M2M,
    NEMOTRON,
    QWEN_VL,
    QWEN_YARN,
    T5,
    VIT,
)

CHECKPOINTS = (
    (
        LLAMA_4K,
        Case(
            # 32768 / 4096 = 8; 0.1 ln 8 + 1 = 1.207944.
            name="Llama from 4k to 32k, with training",
            given={"target": 32768},
            first="yarn",
            options={
                "head_dim": 128,
                "frequencies": {"kind": "yarn", "factor": 8.0, "original_max_length": 4096, "base": 10000.0},
            },
            numbers={"factor": 8.0, "attention_factor": 1.207944},
            checks=("PE102", "PE307", "PE314"),
            behind=("linear", "ntk", "keep"),
        ),
    ),
    (
        LLAMA_4K,
        Case(
            # Interpolation at once: 16.10 at 8192 (PI, table 3, step 0): behind NTK and YaRN.
            name="Llama from 4k to 8k, without training",
            given={"target": 8192, "fine_tune": False},
            first="yarn",
            numbers={"factor": 2.0, "attention_factor": 1.069315},  # 0.1 x 0.693147 + 1
            checks=("PE102",),
            behind=("ntk", "linear", "keep"),
        ),
    ),
    (
        LLAMA_4K,
        Case(
            name="Llama within its length",
            given={"target": 4096},
            first="keep",
            options={"head_dim": 128, "frequencies": {"kind": "plain", "base": 10000.0}},
            checks=("PE301",),
        ),
    ),
    (
        LLAMA_4K,
        Case(
            name="Llama and eighty tokens more",
            given={"target": 4176, "percentiles": {50: 900, 95: 4000, 100: 4176}},
            first="keep",
            checks=("PE513",),
            behind=("yarn",),
        ),
    ),
    (
        LLAMA_4K,
        Case(
            # 262144 / 4096 = 64, beyond the 32 that YaRN was published for; 0.1 ln 64 + 1 = 1.415888.
            name="Llama to 262144",
            given={"target": 262144},
            first="yarn",
            numbers={"factor": 64.0, "attention_factor": 1.415888},
            checks=("PE314",),
        ),
    ),
    (
        QWEN_YARN,
        Case(
            # 131072 is 4 x 32768 already; twice that is a factor of 8 on 32768, not of 2 on top.
            name="Qwen with YaRN, twice as far",
            given={"target": 262144},
            first="rescale",
            options={"head_dim": 128},
            numbers={"factor": 8.0, "attention_factor": 1.207944},
            checks=("PE109", "PE102"),
            behind=("keep",),
        ),
    ),
    (
        BERT,
        Case(
            # 1024 rows: row p of the new is row p x 511 / 1023 of the old.
            name="BERT from 512 to 1024",
            given={"target": 1024},
            first="interpolate",
            options={"max_length": 1024, "dim": 768},
            checks=("PE511", "PE212"),
            behind=("switch",),
            out=("keep",),
        ),
    ),
    (
        BERT,
        Case(
            # Sixteen new rows to two old ones: a switch. Base at 8192: 8.4e4; heads of 768 / 12 = 64.
            name="BERT from 512 to 8192",
            given={"target": 8192, "sizes": ModelSizes(num_heads=12)},
            first="switch",
            options={"head_dim": 64, "frequencies": {"kind": "plain", "base": 84000.0}},
            checks=("PE316",),
            behind=("interpolate",),
            out=("keep",),
        ),
    ),
    (
        BERT,
        Case(
            # 19 of 20 inputs fit: the others are cut, and nothing is changed for them.
            name="BERT and a few longer inputs",
            given={"percentiles": {50: 120, 95: 300, 100: 600}},
            first="keep",
            options={"max_length": 512, "dim": 768},
            checks=("PE701", "PE511"),
        ),
    ),
    (
        BERT,
        Case(
            name="BERT and a few longer inputs that may not be cut",
            given={"percentiles": {50: 120, 95: 300, 100: 600}, "cut": False},
            first="interpolate",
            options={"max_length": 600},
            checks=("PE511",),
            out=("keep",),
        ),
    ),
    (
        BERT,
        Case(
            name="BERT without training",
            given={"target": 2048, "fine_tune": False},
            first="interpolate",
            options={"max_length": 2048},
            checks=("PE511",),
            out=("keep", "switch"),
        ),
    ),
    (
        BLOOM,
        Case(
            name="BLOOM from 2048 to 8192",
            given={"trained": 2048, "target": 8192},
            first="keep",
            options={"num_heads": 16},
            checks=("PE612", "PE308"),
            behind=("switch",),
        ),
    ),
    (
        T5,
        Case(
            # 18.91 at 1512 of 512 holds to about three times; the rule keeps it to twice.
            name="T5 from 512 to 1024",
            given={"trained": 512, "target": 1024},
            first="keep",
            options={"num_heads": 8, "num_buckets": 32, "max_distance": 128, "direction": "both"},
            checks=("PE318",),
            behind=("switch",),
        ),
    ),
    (
        M2M,
        Case(
            # Press et al.: 132.4 at 2512 of 512 for sinusoids. 1024 wide, so 16 heads of 64.
            name="a translator with sinusoids, from 1024 to 4096",
            given={"target": 4096},
            first="switch",
            options={"head_dim": 64, "frequencies": {"kind": "plain", "base": 27000.0}},
            checks=("PE316",),
            behind=("keep",),
        ),
    ),
    (
        NEMOTRON,
        Case(
            name="a hybrid whose attention has no positions",
            given={"trained": 8192, "target": 16384},
            first="keep",
            options={},
            checks=("PE302", "PE510"),
        ),
    ),
    (
        GEMMA,
        Case(
            # Layers with a window of 512 never see the target; those of full attention are extended, on their base of
            # 1e6: 131072 / 32768 = 4; 0.1 ln 4 + 1 = 1.138629.
            name="Gemma 3 from 32k to 128k",
            given={"target": 131072},
            first="yarn",
            options={
                "head_dim": 256,
                "frequencies": {"kind": "yarn", "factor": 4.0, "original_max_length": 32768, "base": 1e6},
            },
            numbers={"factor": 4.0, "attention_factor": 1.138629},
            checks=("PE102",),
        ),
    ),
    (
        VIT,
        Case(
            # 14 x 14 patches and a class token: 197 rows.
            name="a vision transformer at a larger size",
            given={"task": "images", "target": 577},
            first="interpolate",
            options={"max_length": 577, "dim": 768},
            checks=("PE222",),
            out=("keep",),
        ),
    ),
    (
        QWEN_VL,
        Case(
            # 131072 / 32768 = 4; 0.1 ln 4 + 1 = 1.138629; the sections stay.
            name="Qwen2-VL from 32k to 128k",
            given={"task": "vision-language", "target": 131072},
            first="yarn",
            options={
                "head_dim": 128,
                "sections": [16, 24, 24],
                "frequencies": {"kind": "yarn", "factor": 4.0, "original_max_length": 32768, "base": 1e6},
            },
            numbers={"factor": 4.0, "attention_factor": 1.138629},
            checks=("PE102", "PE319"),
            behind=("linear", "ntk", "keep"),
        ),
    ),
    (
        DINO,
        Case(
            # 196 patches are 14 x 14. RoPE-ViT: axial loses 0.9 from 224 to 384 pixels, as a table does its 1.0.
            name="DINOv3 at a larger size",
            given={"task": "images", "trained": 196, "target": 576},
            first="keep",
            options={"head_dim": 64, "coordinates": "centres", "grid": [14, 14]},
            checks=("PE319",),
        ),
    ),
    (
        DEBERTA,
        Case(
            name="DeBERTa beyond its length",
            given={"trained": 512, "target": 1024},
            first="keep",
            options={"num_heads": 12, "max_distance": 512, "buckets": 256},
            checks=("PE513",),
            behind=("switch",),
        ),
    ),
)
