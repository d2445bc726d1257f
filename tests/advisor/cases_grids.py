"""Cases of new models on images, video, and text with images."""

from gnomon.advisor import ModelSizes
from tests.advisor.case import SMALL, Case

GRIDS = (
    Case(
        # RoPE-ViT: axial 80.9 against 80.4 for a table at the trained size. 196 patches, a side of 14. A share of 32
        # columns: 2 pi 100^(30/32) = 471.2 places for a turn, more than 28.
        name="images of one size",
        given={"task": "images", "trained": 196, "sizes": ModelSizes(dim=384, num_heads=6)},
        first="axial_rotary",
        options={"head_dim": 64, "axes": 2, "rotary_dim": 64, "frequencies": {"kind": "plain", "base": 100.0}},
        numbers={"side": 14},
        checks=("PE319",),
        behind=("mixed_rotary", "learned"),
    ),
    Case(
        # RoPE-ViT small at 384: mixed 81.8, axial 80.0, table 79.4.
        name="images that grow",
        given={"task": "images", "trained": 196, "target": 576, "sizes": ModelSizes(dim=384, num_heads=6)},
        first="mixed_rotary",
        options={"num_heads": 6, "head_dim": 64, "rotary_dim": 64},
        checks=("PE319",),
        behind=("axial_rotary",),
        out=("learned",),
    ),
    Case(
        name="images with shared keys",
        given={
            "task": "images",
            "trained": 196,
            "target": 576,
            "sizes": ModelSizes(dim=384, num_heads=6, key_heads=2),
        },
        first="axial_rotary",
        checks=("PE319",),
        out=("mixed_rotary", "learned"),
    ),
    Case(
        # 64 is no multiple of 6: 64 - 64 mod 6 = 60 columns turn, 20 for each axis.
        name="video",
        given={"task": "video", "trained": 1568, "sizes": SMALL},
        first="axial_rotary",
        options={"axes": 3, "rotary_dim": 60},
        checks=("PE319",),
        behind=("sinusoidal_grid",),
    ),
    Case(
        # 64 pairs as Qwen2-VL: 16, 24, 24. Base at 32768: 6.4e5.
        name="text with images",
        given={"task": "vision-language", "trained": 32768, "sizes": ModelSizes(dim=1024, num_heads=8)},
        first="mrope",
        options={"head_dim": 128, "sections": [16, 24, 24], "frequencies": {"kind": "plain", "base": 640000.0}},
        checks=("PE319", "PE414"),
        behind=("rotary",),
    ),
)
