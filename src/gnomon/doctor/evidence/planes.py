"""The (time, height, width) ids that a model with images really used on its example, and those that its grids give."""

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, final

import torch
from jaxtyping import Int64
from torch import Tensor, nn

from gnomon import positions
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.base import evidence
from gnomon.errors import GnomonError
from gnomon.positions import Segment

NAMES = ("position_ids", "positions")
GRIDS = {"image": "image_grid_thw", "video": "video_grid_thw"}


@final
@dataclass(frozen=True)
class Planes:
    """Ids of the first row of the example. `kinds`: text, image or video for each token."""

    used: Int64[Tensor, "S 3"]
    right: Int64[Tensor, "S 3"]
    kinds: tuple[str, ...]


@evidence
def planes(subject: Subject) -> Planes:
    """Runs the example and reads the position ids that inner modules were given."""
    kinds = _kinds(subject)
    right = _right(subject, kinds)
    return Planes(_used(subject, len(kinds)), right, kinds)


def _kinds(subject: Subject) -> tuple[str, ...]:
    """What each token of the first row is, by the token ids that the config names for images and videos."""
    ids = subject.example.get("input_ids")
    config = subject.config
    named = {config.get(f"{kind}_token_id"): kind for kind in GRIDS if isinstance(config.get(f"{kind}_token_id"), int)}
    if "mrope_section" not in repr(config):
        raise MissingEvidence("the config has no mrope_section: images take places in one sequence")
    if not isinstance(ids, Tensor) or ids.ndim != 2 or not named:
        raise MissingEvidence("the example has no token ids, or the config names no token of an image")
    if not any(isinstance(subject.example.get(name), Tensor) for name in GRIDS.values()):
        raise MissingEvidence("the example holds no image: pass pixel values and their grid (image_grid_thw)")
    return tuple(named.get(int(token), "text") for token in ids[0])


def _right(subject: Subject, kinds: tuple[str, ...]) -> Tensor:
    vision: Mapping[str, Any] = subject.config.get("vision_config") or {}
    grids = {kind: iter(subject.example.get(name, ())) for kind, name in GRIDS.items()}
    seconds = subject.example.get("second_per_grid_ts")
    rate = vision.get("tokens_per_second")  # Qwen2-VL has none: a frame is one step
    step = float(rate) * (float(seconds[0]) if seconds is not None else 1.0) if rate else 1.0
    segments: list[Segment] = []
    try:
        for kind, run in groupby(kinds):
            if kind == "text":
                segments.append(("text", len(list(run))))
            else:
                time, height, width = (int(size) for size in next(grids[kind]))
                segments.append(("image" if kind == "image" else "video", (time, height, width)))
        merge = int(vision.get("spatial_merge_size") or 1)
        ids = positions.from_segments(
            segments, merge=merge, frame_step=step if vision.get("tokens_per_second") else 1.0
        )[0]
    except (GnomonError, StopIteration, ValueError) as error:
        raise MissingEvidence(f"the example's grids do not tell positions: {said(error)}") from error
    if len(ids) != len(kinds):
        raise MissingEvidence(f"the grids stand for {len(ids)} tokens, the example has {len(kinds)}")
    return ids


def _used(subject: Subject, length: int) -> Tensor:
    """The ids of the last inner module that was given some with three planes; of any, when none has them."""
    module = copy.deepcopy(subject.module).eval()
    seen: list[Tensor] = []

    def look(part: nn.Module, args: Any, kwargs: Any) -> None:
        given = dict(zip(inspect.signature(part.forward).parameters, args, strict=False)) | kwargs
        ids = next((given[name] for name in NAMES if isinstance(given.get(name), Tensor)), None)
        if ids is not None and not ids.is_floating_point() and (found := _as_planes(ids, length)) is not None:
            seen.append(found)

    handles = [part.register_forward_pre_hook(look, with_kwargs=True) for part in module.modules()]
    try:
        with torch.no_grad():
            module(**subject.example)
    except (Exception, SystemExit) as error:
        raise MissingEvidence(f"the forward fails on its own example: {said(error)}") from error
    finally:
        for handle in handles:
            handle.remove()
    if not seen:
        raise MissingEvidence("no inner module was given position ids")
    return max(seen, key=lambda ids: int((ids[:, :1] != ids).any()))


def _as_planes(ids: Tensor, length: int) -> Tensor | None:
    """(3, B, S), (4, B, S) with the count of text first, (B, S, 3) or (B, S) -> (S, 3) of the first row."""
    if ids.ndim == 3 and ids.shape[0] in (3, 4) and ids.shape[2] == length:
        return ids[-3:, 0].T.long()
    if ids.ndim == 3 and ids.shape[1:] == (length, 3):
        return ids[0].long()
    if ids.ndim == 2 and ids.shape[1] == length:
        return ids[0, :, None].expand(-1, 3).long()
    return None
