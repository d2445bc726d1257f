"""The tokenizer that lies with a model, and text files: read without running anything, refused in one sentence."""

from pathlib import Path

import pytest

from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.tokenizers import has_tokenizer, load_tokenizer, read_text
from gnomon.errors import GnomonError
from tests.helpers.byte_llama import letters, save_letters


def test_the_tokenizer_of_a_folder_is_loaded(tmp_path: Path) -> None:
    assert not has_tokenizer(tmp_path)
    save_letters(tmp_path)
    assert has_tokenizer(tmp_path)
    assert load_tokenizer(tmp_path)("a b\n")["input_ids"] == letters("a b\n")


def test_a_tokenizer_that_brings_code_is_refused_and_its_code_not_run(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text('{"auto_map": {"AutoTokenizer": ["own.Tokenizer", null]}}')
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Tokenizer: pass\n")
    with pytest.raises(MissingEvidence, match=r"no tokenizer that can be read in .*; copy tokenizer\.json"):
        load_tokenizer(tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["none", "none.gguf", "x" * 300, "null\0byte"])
def test_a_place_without_one_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(MissingEvidence, match="no tokenizer that can be read"):
        load_tokenizer(tmp_path / name)


def test_a_text_is_read_up_to_its_first_characters(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes("häuser".encode() + b"\n")
    assert read_text(tmp_path / "text") == "häuser\n"
    assert read_text(str(tmp_path / "text"), most=3) == "häu"


def test_a_text_that_is_missing_or_binary_is_refused_in_one_sentence(tmp_path: Path) -> None:
    for name in ("none.txt", ".", "x" * 300, "null\0byte"):
        with pytest.raises(GnomonError, match=r"^The text '.*' cannot be read: .*; give a text file\.$"):
            read_text(tmp_path / name)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(GnomonError, match="no text in UTF-8"):
        read_text(tmp_path / "binary")
