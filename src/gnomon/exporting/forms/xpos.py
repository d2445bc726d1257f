"""xPos in a graph: tables of scaled cosines and sines, others for queries than for keys."""

import torch
from torch import Tensor

from gnomon.encodings.xpos import XPos
from gnomon.exporting.forms.base import Form, forms
from gnomon.exporting.forms.rotary import RotationTables, Tables, turn_of
from gnomon.exporting.options import ExportOptions
from gnomon.kernels.rotation import join_pairs, split_pairs


@forms.register("xpos")
def xpos_form(encoding: XPos, options: ExportOptions) -> Form:
    """Tables for all positions that the encoding has."""
    unit = torch.ones(encoding.max_length or 1, encoding.rotary_dim // 2)
    first = join_pairs(unit, torch.zeros_like(unit), layout=encoding.layout)
    x = torch.nn.functional.pad(first, (0, encoding.head_dim - encoding.rotary_dim))[None, None]
    positions = torch.arange(len(unit))[None]
    query, key = encoding.rotate_query(x, positions), encoding.rotate_key(x, positions)
    turn = turn_of(encoding.layout, len(unit), options)
    return RotationTables(encoding, turn, _tables(query, encoding), _tables(key, encoding))


def _tables(turned: Tensor, encoding: XPos) -> Tables:
    """The pair (1, 0) turns into (scale cos, scale sin)."""
    cos, sin = split_pairs(turned[0, 0, :, : encoding.rotary_dim], layout=encoding.layout)
    return cos.contiguous(), sin.contiguous()
