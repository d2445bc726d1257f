"""Attention layers. They call the hooks of a position encoding; nothing else in gnomon does."""

from gnomon.attention.attention import Attention
from gnomon.attention.cache import Cache, KeyValues, LayerCache
from gnomon.attention.masks import AttentionMask, allowed

__all__ = ["Attention", "AttentionMask", "Cache", "KeyValues", "LayerCache", "allowed"]
