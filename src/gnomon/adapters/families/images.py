"""Families of image models. Facts from the code of transformers 5.24.0; a family is one entry."""

from dataclasses import replace

from gnomon.adapters.families.entry import encoder
from gnomon.adapters.families.image_rules import GridRotation, ImageWindow, PatchTable, StageWindows
from gnomon.adapters.families.rules import Switch

PATCHES = PatchTable(r"(^|\.)embeddings\.position_embeddings$")
WINDOWS = r"relative_position_bias_table$"
BEIT_BIAS = ImageWindow(WINDOWS)

ENTRIES = (
    encoder("vit", "dinov2", "vit_msn", rules=(PATCHES,)),
    encoder("deit", rules=(replace(PATCHES, prefix=2),)),
    encoder("dinov3_vit", rules=(GridRotation(100.0, "centres"),)),
    encoder(
        "beit",
        rules=(
            Switch("use_absolute_position_embeddings", False, {True: (PATCHES,), False: ()}),
            Switch(
                "use_relative_position_bias",
                False,
                {
                    True: (BEIT_BIAS,),
                    False: (Switch("use_shared_relative_position_bias", False, {True: (BEIT_BIAS,), False: ()}),),
                },
            ),
        ),
    ),
    encoder("swin", rules=(StageWindows("window_bias", WINDOWS),)),
    encoder("swinv2", rules=(StageWindows("log_cpb", r"continuous_position_bias_mlp\.[02]\.(weight|bias)$"),)),
    encoder("qwen2_vl_vision", "qwen2_5_vl_vision", rules=(GridRotation(10000.0),)),
)
