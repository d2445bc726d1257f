"""Models of timm and x-transformers, small."""

from collections.abc import Callable
from typing import Any

from torch import nn

from tests.helpers.healthy_plain.kinds import HEAD_DIM, HEADS, LENGTH, VOCABULARY, WIDTH, Builder, numbers, seeded
from tests.helpers.peers import timm_models, x_transformers

OF_THE_WRAPPER = ("use_abs_pos_emb", "scaled_sinu_pos_emb")
SMALL: dict[str, Any] = {"dim": WIDTH, "depth": 2, "heads": HEADS, "attn_dim_head": HEAD_DIM}


def x_transformer(*, causal: bool = True, **options: Any) -> Callable[[], nn.Module]:
    """A TransformerWrapper of x-transformers; `options` go to its layers, those of the wrapper apart."""

    def build() -> nn.Module:
        library = x_transformers()
        wrapper = {k: v for k, v in options.items() if k in OF_THE_WRAPPER}
        inside = {k: v for k, v in options.items() if k not in OF_THE_WRAPPER}
        layers = (library.Decoder if causal else library.Encoder)(**SMALL, **inside)
        model: nn.Module = library.TransformerWrapper(
            num_tokens=VOCABULARY, max_seq_len=LENGTH, attn_layers=layers, **wrapper
        )
        return model

    return build


def vit() -> tuple[nn.Module, Any]:
    model: nn.Module = timm_models("vision_transformer").VisionTransformer(
        img_size=32, patch_size=8, embed_dim=WIDTH, depth=2, num_heads=HEADS, num_classes=5
    )
    return model, (numbers(2, 3, 32, 32),)


def eva() -> tuple[nn.Module, Any]:
    model: nn.Module = timm_models("eva").Eva(
        img_size=32, patch_size=8, embed_dim=WIDTH, depth=2, num_heads=HEADS, num_classes=5, use_rot_pos_emb=True
    )
    return model, (numbers(2, 3, 32, 32),)


def swin() -> tuple[nn.Module, Any]:
    model: nn.Module = timm_models("swin_transformer").SwinTransformer(
        img_size=32, patch_size=2, embed_dim=16, depths=(2, 2), num_heads=(2, 4), window_size=4, num_classes=5
    )
    return model, (numbers(2, 3, 32, 32),)


LIBRARIES: dict[str, Builder] = {
    "x-transformers, learned": seeded(x_transformer()),
    "x-transformers, rotary": seeded(x_transformer(rotary_pos_emb=True, use_abs_pos_emb=False)),
    "x-transformers, alibi": seeded(x_transformer(alibi_pos_bias=True, use_abs_pos_emb=False)),
    "x-transformers, t5 buckets": seeded(x_transformer(rel_pos_bias=True, use_abs_pos_emb=False)),
    "x-transformers, dynamic bias": seeded(x_transformer(dynamic_pos_bias=True, use_abs_pos_emb=False)),
    "x-transformers, encoder": seeded(x_transformer(causal=False, scaled_sinu_pos_emb=True)),
    "timm, vit": seeded(vit),
    "timm, eva with rotary": seeded(eva),
    "timm, swin": seeded(swin),
}
