"""Positions of rows that mix text with images and videos (M-RoPE): Wang et al. 2024, arXiv:2409.12191, section 2.1."""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.errors import PositionError
from gnomon.positions.checking import integers
from gnomon.positions.grids import grid

#: A stretch of one row: how many tokens of text, or the (time, height, width) of an image or a video in patches.
Segment = tuple[Literal["text"], int] | tuple[Literal["image", "video"], tuple[int, int, int]]


def from_segments(
    segments: Sequence[Segment], *, merge: int = 1, frame_step: float = 1.0, device: torch.device | str | None = None
) -> Int64[Tensor, "1 S 3"]:
    """(time, height, width) ids of one row of text, images and videos. -> (1, S, 3).

    A token of text has the same number three times and counts on from the segment before. The first token of an image
    has the next number on all axes, each other one that number plus its own coordinates; what follows starts at the
    largest number so far plus 1. `merge` is how many patches along height and width become one token (Qwen2-VL: 2), and
    `frame_step` how far apart two frames of a video are in time; fractions are cut after multiplying (Qwen2.5-VL:
    tokens_per_second x the seconds that a frame covers). Qwen3-VL has text with a time stamp between frames: give each
    frame as an image.

    transformers 5.24 starts the text after an image at start + max(height, width) instead, which gives the same ids
    unless a video is longer than it is high and wide.

    >>> from_segments([("text", 2), ("image", (1, 2, 4)), ("text", 1)], merge=2).tolist()
    [[[0, 0, 0], [1, 1, 1], [2, 2, 2], [2, 2, 3], [4, 4, 4]]]
    """
    if merge < 1 or not 0 < frame_step < float("inf"):
        raise PositionError(f"merge is at least 1 and frame_step above 0, got merge={merge}, frame_step={frame_step}.")
    parts: list[Tensor] = []
    start = 0
    for kind, size in segments:
        if kind == "text" and isinstance(size, int):
            part, extent = _text(size, device), size
        elif kind in ("image", "video") and not isinstance(size, int):
            step = frame_step if kind == "video" else 1.0
            part = _vision(size, merge, step, device)
            extent = max(size[1] // merge, size[2] // merge, int((size[0] - 1) * step) + 1)
        else:
            form = "('text', tokens), ('image', (1, height, width)) or ('video', (time, height, width))"
            raise PositionError(f"A segment is {form}, got {(kind, size)!r}.")
        parts.append(part + start)
        start += extent
    if not parts:
        raise PositionError("A row has at least one segment of text, image or video, got none.")
    return torch.cat(parts)[None]


def after_segments(positions: Int64[Tensor, "B S axes"], new: int) -> Int64[Tensor, "B new axes"]:
    """Text after a cache with images: the ids of `new` tokens that follow those at `positions`. -> (B, new, axes).

    They count on from the largest id of the row, on any axis, plus 1; the number of cached tokens does not tell.
    Padding at 0 or at -1 does not matter. In later steps the last ids are enough: `after_segments(last, 1)`.

    >>> after_segments(from_segments([("image", (1, 2, 3))]), new=2).tolist()
    [[[3, 3, 3], [4, 4, 4]]]
    """
    ids = integers(positions, "positions", ndim=3)
    if new < 1:
        raise PositionError(f"There must be at least 1 new token, got {new}.")
    if 0 in ids.shape:
        raise PositionError(f"Text follows at least one token, got positions of shape {tuple(ids.shape)}.")
    following = ids.amax((1, 2))[:, None] + torch.arange(1, new + 1, device=ids.device)
    return following[..., None].expand(-1, -1, ids.shape[-1])


def _text(tokens: int, device: torch.device | str | None) -> Int64[Tensor, "S 3"]:
    if tokens < 1:
        raise PositionError(f"A segment of text has at least 1 token, got {tokens}.")
    return torch.arange(tokens, device=device)[:, None].expand(-1, 3)


def _vision(
    size: Sequence[int], merge: int, frame_step: float, device: torch.device | str | None
) -> Int64[Tensor, "S 3"]:
    if len(size) != 3 or min(size) < 1 or size[1] % merge or size[2] % merge:
        raise PositionError(
            f"An image or video is (time, height, width) in patches, height and width multiples of merge={merge}, got "
            f"{tuple(size)}."
        )
    time, height, width = size
    places = grid(time, height // merge, width // merge, device=device)[0]
    frames = (places[:, :1].to(torch.float64) * frame_step).to(torch.int64)
    return torch.cat((frames, places[:, 1:]), dim=-1)
