"""Cases of checkpoints whose kind decides how they get longer: pictures, an encoder with a decoder, far factors."""

from tests.advisor.case import Case
from tests.advisor.configs import LLAMA_4K, VIT, WHISPER

LENGTHS = (
    (
        VIT,
        Case(
            # No task is given, and the model is one of images all the same: 577 = 24 x 24 + 1, and no switch.
            name="a vision transformer without a word on images",
            given={"task": "classification", "target": 577},
            first="interpolate",
            options={"max_length": 577, "dim": 768},
            checks=("PE222",),
            out=("keep",),
        ),
    ),
    (
        WHISPER,
        Case(
            # The encoder's sinusoids end at 1500; it sees both sides, and its heads are 384 / 6 = 64 wide. The bound
            # at 3000: ln(3000 / 2048) / ln 2 = 0.550747; 16000 x (27 / 16)^0.550747 = 21344, so 22000.
            name="an encoder with a decoder, twice as long",
            given={"target": 3000},
            first="switch",
            options={"head_dim": 64, "frequencies": {"kind": "plain", "base": 22000.0}},
            checks=("PE316",),
            behind=("keep",),
        ),
    ),
    (
        LLAMA_4K,
        Case(
            # LongRoPE's table at 2M tokens: YaRN 8.27, interpolation 20.17: not equal at such factors.
            name="Llama to 64 times its length",
            given={"target": 262144, "fine_tune": True},
            first="yarn",
            numbers={"factor": 64.0},
            checks=("PE314",),
            behind=("linear", "ntk", "keep"),
        ),
    ),
    (
        {**LLAMA_4K, "max_position_embeddings": 64},
        Case(
            # 100 tokens more were measured from 512 on; from 64 they are two and a half times the length.
            name="a tiny Llama and a hundred tokens more",
            given={"target": 164},
            first="yarn",
            numbers={"factor": 2.5625, "attention_factor": 1.094098},  # ln 2.5625 = 0.940983
            checks=("PE102",),
            behind=("keep",),
        ),
    ),
)
