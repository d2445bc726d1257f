"""Attention layers. They call the hooks of a position encoding; nothing else in gnomon does."""

from gnomon.attention.attention import Attention
from gnomon.attention.cache import Cache, KeyValues, LayerCache
from gnomon.attention.masks import AttentionMask, Sight, allowed
from gnomon.attention.permutation import factorization_order, permutation_mask
from gnomon.attention.rerotation import rerotate_keys
from gnomon.attention.segments import SegmentBias
from gnomon.attention.streams import StreamView, TwoStreamMasks, TwoStreamViews
from gnomon.attention.two_stream import TwoStreamAttention

__all__ = [
    "Attention",
    "AttentionMask",
    "Cache",
    "KeyValues",
    "LayerCache",
    "SegmentBias",
    "Sight",
    "StreamView",
    "TwoStreamAttention",
    "TwoStreamMasks",
    "TwoStreamViews",
    "allowed",
    "factorization_order",
    "permutation_mask",
    "rerotate_keys",
]
