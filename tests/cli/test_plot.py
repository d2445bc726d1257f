"""`gnomon plot`: options become an encoding, the encoding becomes a file."""

from pathlib import Path

import pytest

from gnomon.cli.plot import build_with_defaults, parse_options
from gnomon.encodings import registry as encodings
from gnomon.errors import GnomonError
from tests.helpers.command import gnomon, sentence


def test_options_are_read_as_numbers_words_and_json() -> None:
    pairs = ["dim=8", "base=1e4", "layout=half", 'frequencies={"kind": "linear", "factor": 2.0}', "flag=true", "a=b=c"]
    assert parse_options(pairs) == {
        "dim": 8,
        "base": 10000.0,
        "layout": "half",
        "frequencies": {"kind": "linear", "factor": 2.0},
        "flag": True,
        "a": "b=c",
    }


def test_sizes_that_are_not_given_are_those_of_a_usual_model() -> None:
    assert build_with_defaults("rotary", {"layout": "interleaved"}).options["head_dim"] == 64
    assert build_with_defaults("learned", {"dim": 6}).options["dim"] == 6
    assert build_with_defaults("alibi", {}).options["num_heads"] == 8


@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
def test_a_file_is_written_in_the_form_of_its_name(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"alibi.{suffix}"
    outcome = gnomon("plot", "alibi", "--opt", "num_heads=3", "--length", "20", "-o", str(file))
    assert (outcome.code, outcome.stdout, outcome.stderr) == (0, "", f"gnomon: wrote {file}\n")
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "html": b"<!doctype html>"}
    assert file.read_bytes().lstrip().lower().startswith(starts[suffix].lower())


@pytest.mark.parametrize("name", [name for name in encodings.names() if name != "nope"])
def test_every_encoding_is_drawn(tmp_path: Path, name: str) -> None:
    file = tmp_path / "x.png"
    outcome = gnomon("plot", name, "--length", "8", "-o", str(file))
    assert (outcome.code, outcome.stderr) == (0, f"gnomon: wrote {file}\n")


def test_defaults_that_suit_other_sizes_give_way_to_those_of_the_sample() -> None:
    assert build_with_defaults("mrope", {}).options["sections"] == [8, 12, 12]
    assert build_with_defaults("mrope", {"head_dim": 128}).options["sections"] == [16, 24, 24]
    with pytest.raises(GnomonError, match="add up to the 32 pairs"):
        build_with_defaults("mrope", {"sections": [1, 2, 3]})


def test_an_option_that_takes_a_list_is_given_as_json() -> None:
    assert build_with_defaults("fourier", parse_options(["grid=[3,5]", "num_bands=2"])).grid == (3, 5)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rotari",), "Did you mean 'rotary'?"),
        (("nope",), "NoPE has no numbers to draw"),
        (("alibi", "--opt", "num_heads"), "An option is KEY=VALUE"),
        (("alibi", "--opt", "=3"), "An option is KEY=VALUE"),
        (("alibi", "--opt", "heads=3"), "it takes num_heads"),
        (("alibi", "--opt", "num_heads=many"), "The option num_heads of 'alibi' is a whole number; got \"many\"."),
        (("alibi", "--opt", "num_heads=2.5"), "is a whole number; got 2.5."),
        (("alibi", "--opt", "num_heads=true"), "is a whole number; got true."),
        (("alibi", "--opt", "name=alibi"), "'alibi' has no option name; it takes num_heads"),
        (("rotary", "--opt", "head_dim=abc"), "The option head_dim of 'rotary' is a whole number; got \"abc\"."),
        (("rotary", "--opt", "frequencies=3"), "got 3."),
        (("rotary", "--opt", "frequencies=" + "[" * 100_000), "--opt frequencies is nested too deeply"),
        (("rope",), "Did you mean 'rotary'?"),
        (("alibi", "--opt", "num_heads=0"), "at least 1 head"),
        (("learned", "--opt", "max_length=9", "--length", "10"), "max_length=9"),
    ],
)
def test_what_cannot_be_drawn_is_a_sentence(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    assert said in sentence(gnomon("plot", *words, "-o", str(tmp_path / "x.png")))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "said"), [("x.gif", ".png, .svg or .html"), ("missing/x.png", "missing")])
def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path, name: str, said: str) -> None:
    assert said in sentence(gnomon("plot", "alibi", "-o", str(tmp_path / name)))


def test_too_few_positions_are_a_usage_error(tmp_path: Path) -> None:
    for length, said in (("3", "it must be greater than or equal to 4"), ("x", "it must be a valid integer;")):
        words = sentence(gnomon("plot", "alibi", "--length", length, "-o", str(tmp_path / "x.png")))
        assert said in words
        assert "Input should" not in words
