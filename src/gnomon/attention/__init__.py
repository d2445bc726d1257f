"""Attention layers. They call the hooks of a position encoding; nothing else in gnomon does."""

from gnomon.attention.attention import Attention
from gnomon.attention.cache import Cache, KeyValues, LayerCache
from gnomon.attention.masks import AttentionMask, Sight, allowed
from gnomon.attention.rerotation import rerotate_keys

__all__ = ["Attention", "AttentionMask", "Cache", "KeyValues", "LayerCache", "Sight", "allowed", "rerotate_keys"]
