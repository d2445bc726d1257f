"""Lengths from a file, in each of its forms."""

from pathlib import Path

import numpy as np
import pytest

from gnomon.adapters.lengths import checked_lengths, read_lengths
from gnomon.errors import UnsupportedTargetError


@pytest.mark.parametrize(
    "text",
    [
        "3\n512\n\n7\n",
        "[3, 512, 7]",
        ' [{"length": 3}, {"length": 512}, {"n_tokens": 7}] ',
        '{"length": 3, "text": "a"}\n{"n_tokens": 512}\n{"num_tokens": 7}',
        "3.0\r\n512\r\n7",
    ],
)
def test_each_form_gives_the_same_numbers(text: str, tmp_path: Path) -> None:
    file = tmp_path / "lengths.txt"
    file.write_text(text)
    assert read_lengths(file) == [3, 512, 7]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3\nlong\n", "Line 2 is no length: 'long'"),
        ("3\n-1\n", "Entry 2 is no number of tokens: '-1'"),
        ("3\n2.5\n", "Entry 2 is no number of tokens: '2.5'"),
        ("3\nNaN\n", "Entry 2 is no number of tokens: 'nan'"),
        ("true\n", "Entry 1 is no number of tokens: 'True'"),
        ("[3, [4]]", "Entry 2 is no number of tokens"),
        ("[3, 4", "not valid JSON"),
        ('{"tokens": 3}', "Entry 1 has none of the fields length, n_tokens, num_tokens"),
        ("", "There is no length"),
        ("[]", "There is no length"),
        ('"7"\n', "Entry 1 is no number of tokens: '7'"),
    ],
)
def test_a_bad_line_is_said_in_one_sentence_with_the_file(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "lengths.txt"
    file.write_text(text)
    with pytest.raises(UnsupportedTargetError, match=r".") as caught:
        read_lengths(file)
    assert str(caught.value).startswith(str(file))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", ["absent.txt", "bad\0name", "."])
def test_a_missing_file_is_said(path: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedTargetError, match="no text file of lengths"):
        read_lengths(f"{tmp_path}/{path}")


def test_a_binary_file_is_no_list(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(UnsupportedTargetError, match="no text file of lengths"):
        read_lengths(tmp_path / "x")


def test_numbers_of_numpy_are_lengths_and_text_is_not_a_list() -> None:
    assert checked_lengths(np.array([3, 5])) == [3, 5]
    for value in ("35", 7, None):
        with pytest.raises(UnsupportedTargetError, match="Lengths are a list"):
            checked_lengths(value)  # type: ignore[arg-type]
