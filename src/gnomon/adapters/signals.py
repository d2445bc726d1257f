"""Random images and sounds of the shape that a config states, for models that take no token ids."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence

BATCH, FRAMES = 2, 29
SIGNALS = ("pixel_values", "input_values", "input_features")  #: what transformers calls them
LARGEST = 2**24  # numbers in a signal; a config may state any size
IMAGE = 64  # pixels a side where the config states none

Shape = tuple[int, ...]


def draw_signal(name: str, config: Any, generator: torch.Generator) -> Tensor:
    """A batch of N(0, 1) signals for this argument; raises MissingEvidence where the config has no shape."""
    shapes = {"pixel_values": image_shape, "input_values": _values_shape, "input_features": _features_shape}
    shape = shapes[name](config)
    if math.prod(shape) * BATCH > LARGEST:
        raise MissingEvidence(f"no example: {name} of shape {shape}, as the config has it, is more than gnomon draws")
    return torch.randn(BATCH, *shape, generator=generator)


def image_shape(config: Any) -> Shape:
    """(channels, height, width), behind the number of frames where there are frames."""
    part = _part(config, "image_size", "vision_config")
    channels = _number(part, "num_channels", "in_channels", "in_chans") or 3
    height, width = _pair(getattr(part, "image_size", None) or IMAGE)
    frames = _number(part, "num_frames")
    return (frames, channels, height, width) if frames else (channels, height, width)


def draw_grid(config: Any, generator: torch.Generator) -> dict[str, Tensor]:
    """Patches of one image in a row, as Qwen2-VL cuts them, and its grid (time, height, width), higher than wide."""
    side, merge = (_number(config, key) or 2 for key in ("patch_size", "spatial_merge_size"))
    time = _number(config, "temporal_patch_size") or 1
    grid = (1, 4 * merge, 3 * merge)
    width = (_number(config, "in_channels", "in_chans", "num_channels") or 3) * time * side**2
    patches = torch.randn(math.prod(grid), width, generator=generator)
    return {"hidden_states": patches, "grid_thw": torch.tensor([grid])}


def _values_shape(config: Any) -> Shape:
    """A spectrogram (frames, bins), or samples of a wave, enough for FRAMES after the convolutions."""
    part = _part(config, "conv_stride", "audio_config")
    strides, kernels = getattr(part, "conv_stride", None), getattr(part, "conv_kernel", None)
    if isinstance(strides, Sequence) and isinstance(kernels, Sequence):
        samples = FRAMES * getattr(part, "squeeze_factor", 1)
        for stride, kernel in zip(reversed(strides), reversed(kernels), strict=True):
            samples = (samples - 1) * stride + kernel
        return (samples,)
    frames, bins = _number(part, "max_length"), _number(part, "num_mel_bins")
    if not (frames and bins):
        raise MissingEvidence("no example: the config has no shape of input_values; pass (module, example)")
    return (frames, bins)


def _features_shape(config: Any) -> Shape:
    """(bins, frames) for Whisper, whose two convolutions halve the frames; else (frames, features)."""
    part = _part(config, "num_mel_bins", "audio_config")
    bins, frames = _number(part, "num_mel_bins"), _number(part, "max_source_positions")
    if bins and frames:
        return (bins, 2 * frames)
    width = _number(part, "feature_projection_input_dim", "input_feat_per_channel") or bins
    if not width:
        raise MissingEvidence("no example: the config has no width of input_features; pass (module, example)")
    return (2 * FRAMES, width)


def _part(config: Any, key: str, nested: str) -> Any:
    """The config, or the one inside it that is about this kind of signal."""
    inside = getattr(config, nested, None)
    return config if getattr(config, key, None) is not None or inside is None else inside


def _number(config: Any, *keys: str) -> int | None:
    found = (getattr(config, key, None) for key in keys)
    return next((value for value in found if isinstance(value, int) and value > 0), None)


def _pair(size: Any) -> tuple[int, int]:
    values = [size, size] if isinstance(size, int) else list(size)
    return int(values[0]), int(values[-1])
