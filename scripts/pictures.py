"""Draws the pictures of the documentation: every encoding, and every rule for rotary frequencies."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Float64
from PIL import Image

from gnomon.cli.plot import build_with_defaults
from gnomon.encodings import registry as encodings
from gnomon.encodings.frequencies.base import Frequencies, build_frequencies
from gnomon.encodings.frequencies.base import registry as rules
from gnomon.plots import Figure, compared_wavelengths, wavelengths, write_figures
from gnomon.plots.draw_matplotlib import FAINT, GRID, TEXT
from gnomon.plots.palette import LIGHT
from gnomon.portraits import portrait
from gnomon.portraits.rotations import lengths_compared

FOLDER: Final = Path(__file__).parents[1] / "docs" / "pictures"
MAX_BYTES: Final = 60_000
WITHOUT_NUMBERS: Final = ("nope",)
LENGTH: Final = 128
HEAD_DIM: Final = 128
CONTEXT: Final = 4096

#: Words in the titles of the two figures that tell most; the first two figures where none is named.
TELLING: Final[Mapping[str, Sequence[str]]] = {
    "learned": ("values", "similarity by distance"),
    "sinusoidal": ("values", "similarity of positions"),
    "rotary": ("wavelength", "by distance"),
    "axial_rotary": ("seen from the middle", "along each axis"),
    "mrope": ("seen from the middle", "along each axis"),
    "sinusoidal_grid": ("seen from the middle", "along each axis"),
    "fourier": ("seen from the middle", "along each axis"),
    "randomized": ("id of each", "score of equal vectors"),
}
#: Where the sizes of a usual model say less than others.
OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "sinusoidal": {"dim": 64},
    "learned": {"dim": 64, "max_length": 128},
    "window_bias": {"num_heads": 4, "window": [8, 12]},
    "log_cpb": {"window": [8, 12]},
    "fourier": {"grid": [12, 18], "num_bands": 6},
    "randomized": {"max_length": 64, "span": 1024},
    "mrope": {"head_dim": 128, "sections": [24, 20, 20], "arrangement": "interleaved"},
    "t5": {"num_heads": 4},
    **{key: {"num_heads": 2} for key in ("cope", "deberta", "shaw", "transformer_xl")},
}
LENGTHS: Final[Mapping[str, int]] = {
    "rotary": 1024,
    "xpos": 512,
    "deberta": 36,
    "learned": 64,
    **dict.fromkeys(("cope", "randomized", "shaw", "transformer_xl"), 64),
}

_HALF: Final = HEAD_DIM // 2
#: A usual setting of each rule that needs one.
SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "linear": {"factor": 4.0},
    "ntk": {"factor": 4.0},
    "by_parts": {"factor": 4.0, "original_max_length": CONTEXT},
    "yarn": {"factor": 4.0, "original_max_length": CONTEXT},
    "dynamic": {"factor": 1.0, "original_max_length": CONTEXT},
    "dynamic_yarn": {"original_max_length": CONTEXT},
    "llama3": {"base": 500000.0},
    "proportional": {"fraction": 0.25, "base": 1000000.0},
    "longrope": {
        # The shape of a search's result: fast pairs stay, slow ones stretch with the context.
        "short_factor": [1.0 + 0.2 * i / _HALF for i in range(_HALF)],
        "long_factor": [1.0 + 31.0 * (i / (_HALF - 1)) ** 2 for i in range(_HALF)],
        "original_max_length": CONTEXT,
        "factor": 32.0,
    },
    "custom": {"inverse_frequencies": [10000.0 ** (-i / _HALF) / (1 + 3 * (i / _HALF) ** 2) for i in range(_HALF)]},
}


def main() -> int:
    for kind in ("encodings", "frequencies"):
        (FOLDER / kind).mkdir(parents=True, exist_ok=True)
    too_large = []
    for name in encodings.names():
        if name not in WITHOUT_NUMBERS:
            too_large += _write(encoding_figures(name), FOLDER / "encodings" / f"{name}.png")
    for name in rules.names():
        too_large += _write([frequency_figure(name)], FOLDER / "frequencies" / f"{name}.png")
    for path in too_large:
        print(f"{path} has more than {MAX_BYTES} bytes", file=sys.stderr)
    return 1 if too_large else 0


def encoding_figures(name: str) -> list[Figure]:
    """The two figures of an encoding that tell most, always with the same weights."""
    torch.manual_seed(0)
    built = build_with_defaults(name, dict(OPTIONS.get(name, {})))
    title = f"{name}, untrained" if built.learned else name
    figures = portrait(built, length=LENGTHS.get(name, LENGTH), title=title)
    words = TELLING.get(name)
    return list(figures[:2]) if words is None else [_titled(figures, word) for word in words]


def frequency_figure(name: str) -> Figure:
    """The wavelengths of a rule beside the plain ones of its base."""
    rule = build_frequencies({"kind": name, **SETTINGS.get(name, {})})
    base = rule.options.get("base", 10000.0)
    plain = build_frequencies({"kind": "plain", "base": base}).inverse(HEAD_DIM)
    title = f"{name}: wavelengths, heads of {HEAD_DIM}"
    if name == "plain":
        return wavelengths(plain, context_length=CONTEXT, title=title)
    return compared_wavelengths({f"plain, base {base:g}": plain, **_of_rule(name, rule)}, title=title)


def _of_rule(name: str, rule: Frequencies) -> Mapping[str, Float64[np.ndarray, " pairs"]]:
    if rule.length_dependent:
        return {f"{name}, {length}": row for length, row in lengths_compared(rule, HEAD_DIM).items()}
    settings = [f"{key} {rule.options[key]:g}" for key in ("fraction", "factor") if rule.options.get(key, 1.0) != 1.0]
    if rule.attention_factor != 1.0:
        settings.append(f"attention factor {rule.attention_factor:.3g}")
    return {", ".join([name, *settings]): rule.inverse(HEAD_DIM)}


def _titled(figures: Sequence[Figure], word: str) -> Figure:
    return next(figure for figure in figures if word in figure.title)


def _write(figures: Sequence[Figure], path: Path) -> list[Path]:
    """Draw, reduce the size, and keep gnomon's own colours only, then fewer of its shades until the file is small.

    A palette chosen from the picture would be spent on its heat map, and merge the colours of its curves.
    """
    write_figures(figures, path)
    with Image.open(path) as image:
        small = image.convert("RGB").resize((image.width * 2 // 3, image.height * 2 // 3), Image.Resampling.LANCZOS)
    for shades in (120, 60, 40, 25):
        small.quantize(palette=_palette(shades), dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size <= MAX_BYTES:
            return []
    return [path]


def _palette(shades: int) -> Image.Image:
    """The colours of heat maps in so many shades, and those of curves and text in five steps to white."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    scales = ((LIGHT.diverging, shades), (LIGHT.sequential, shades // 2))
    steps = [LinearSegmentedColormap.from_list("", scale, N=count)(range(count))[:, :3] for scale, count in scales]
    inks = np.array([to_rgb(color) for color in (*LIGHT.curves, TEXT, FAINT, GRID)])
    steps += [1 - share * (1 - inks) for share in (1.0, 0.8, 0.6, 0.4, 0.2)]
    colors = np.concatenate([*steps, np.ones((1, 3))])
    palette = Image.new("P", (1, 1))
    palette.putpalette((colors * 255).round().astype("uint8").tobytes())
    return palette


if __name__ == "__main__":
    sys.exit(main())
