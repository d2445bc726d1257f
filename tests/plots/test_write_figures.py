"""What `write_figures` leaves on the disk: pictures that open, or nothing."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageColor

from gnomon.errors import GnomonError
from gnomon.plots import Curve, Figure, Heatmap, Lines, heat_map, write_figures
from gnomon.plots.draw_matplotlib import DPI, HEIGHT, WIDTH
from gnomon.plots.palette import DARK, LIGHT
from tests.helpers.sample_report import sample_figures, sinusoids


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_png_has_the_size_of_its_grid_and_is_not_blank(tmp_path: Path) -> None:
    write_figures(sample_figures()[:3], tmp_path / "three.png")
    with Image.open(tmp_path / "three.png") as image:
        assert image.size == (1920, 1500) == (int(2 * WIDTH * DPI), int(2 * HEIGHT * DPI))
        pixels = np.asarray(image.convert("L"))
    (first, second), (third, fourth) = ([half[:, :960], half[:, 960:]] for half in (pixels[:750], pixels[750:]))
    assert min(panel.std() for panel in (first, second, third)) > 10
    assert fourth[20:, 20:].std() == 0  # no fourth figure was given


def test_the_colours_of_a_png_are_those_of_the_values(tmp_path: Path) -> None:
    values = np.array([[-1.0, 0.0], [0.0, 1.0]])
    write_figures(heat_map(values), tmp_path / "two.png")
    with Image.open(tmp_path / "two.png") as image:
        pixels = np.asarray(image.convert("RGB"))
    counts = {color: int((pixels == ImageColor.getrgb(color)).all(axis=-1).sum()) for color in LIGHT.diverging}
    assert counts[LIGHT.diverging[0]] > 10_000
    assert counts[LIGHT.diverging[-1]] > 10_000
    assert counts[LIGHT.diverging[4]] > 20_000


def test_an_svg_parses_and_holds_the_table_as_one_picture(tmp_path: Path) -> None:
    write_figures(heat_map(sinusoids(40, 30)), tmp_path / "one.SVG")
    root = ElementTree.parse(tmp_path / "one.SVG").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(root.findall(".//{http://www.w3.org/2000/svg}image")) == 2  # the mesh and the colour bar
    assert (tmp_path / "one.SVG").stat().st_size < 100_000


def test_equal_figures_give_equal_files(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        write_figures(sample_figures()[2], tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_an_html_page_carries_plotly_once_and_names_no_other_address(tmp_path: Path) -> None:
    write_figures(sample_figures(), tmp_path / "four.html")
    text = (tmp_path / "four.html").read_text(encoding="utf-8")
    assert text.count("* plotly.js v") == 1
    assert "src=" not in text.split("* plotly.js v")[0]
    assert text.count("data-figure=") == 4


@pytest.mark.parametrize("kind", ["png", "svg", "html"])
def test_odd_figures_are_drawn_too(kind: str, tmp_path: Path) -> None:
    odd: list[Figure] = [
        heat_map(np.full((1, 1), np.nan), title="$\\frac{x$ <b>名</b> %{z}"),
        Heatmap("sequential", np.zeros((2, 3)), "x", "y", centered=False, y=np.array([5.0, 1.0])),
        Lines("nothing", ()),
        Lines("one", (Curve("a", np.array([1.0]), np.array([0.0])),), log_x=True, log_y=True),
    ]
    write_figures(odd, tmp_path / f"odd.{kind}")
    assert (tmp_path / f"odd.{kind}").stat().st_size > 1000


@pytest.mark.parametrize("name", ["figure", "figure.jpg", "figure.png.txt"])
def test_another_suffix_is_refused_with_the_ones_that_work(name: str, tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match=r"\.png, \.svg or \.html"):
        write_figures(sample_figures()[2], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_and_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(GnomonError, match="does not exist"):
        write_figures(sample_figures()[2], tmp_path / "missing" / "figure.png")
    with pytest.raises(GnomonError, match="is a folder"):
        write_figures(sample_figures()[2], tmp_path / "folder.png")


def test_no_figure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match="at least one"):
        write_figures([], tmp_path / "none.png")


@pytest.mark.parametrize(("kind", "library"), [("png", "matplotlib"), ("svg", "matplotlib"), ("html", "plotly")])
def test_a_missing_library_names_the_extra(
    kind: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(GnomonError, match=rf"{library}; install it with pip install 'gnomon\[plots\]'"):
        write_figures(sample_figures()[2], tmp_path / f"figure.{kind}")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "figure.svg"
    target.write_text("old")

    def fail(self: Path, other: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(GnomonError, match="No space left on device"):
        write_figures(sample_figures()[2], target)
    assert [path.name for path in tmp_path.iterdir()] == ["figure.svg"]
    assert target.read_text() == "old"


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real.svg").write_text("old")
    (tmp_path / "link.svg").symlink_to(tmp_path / "real.svg")
    write_figures(sample_figures()[2], tmp_path / "link.svg")
    assert (tmp_path / "link.svg").is_symlink()
    assert (tmp_path / "real.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_signed_colours_grow_apart_from_the_middle_in_lightness_alone(palette: object) -> None:
    assert palette in (LIGHT, DARK)
    scale = (LIGHT if palette is LIGHT else DARK).diverging
    direction = -1 if palette is LIGHT else 1
    middle = len(scale) // 2
    for half in (scale[: middle + 1][::-1], scale[middle:]):
        steps = np.diff([luminance(color) for color in half]) * direction
        assert (steps > 0).all()


@pytest.mark.parametrize(("palette", "background"), [(LIGHT, "#ffffff"), (DARK, "#1a1d22")])
def test_curves_stand_out_from_the_page(palette: object, background: str) -> None:
    colors = (LIGHT if palette is LIGHT else DARK).curves
    for color in colors:
        lighter, darker = sorted((luminance(color), luminance(background)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5
