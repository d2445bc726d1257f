from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.extending.checking.tokens import ids_of, tokens_of
from tests.helpers.byte_llama import letters, save_letters


def test_a_folders_tokenizer_gives_bare_ids_and_knows_what_stands_around_a_row(
    tmp_path: Path,
) -> None:
    save_letters(tmp_path, special=True)
    tokens = tokens_of(tmp_path)
    assert tokens.encode("a b\n") == letters("a b\n")
    assert (tokens.prefix, tokens.suffix, tokens.mask, tokens.special) == ((256,), (257,), 258, 2)


def test_a_tokenizer_without_special_tokens_adds_none(tmp_path: Path) -> None:
    save_letters(tmp_path)
    tokens = tokens_of(str(tmp_path))
    assert (tokens.prefix, tokens.suffix, tokens.mask) == ((), (), None)


def test_a_long_text_is_never_cut(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    save_letters(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path, model_max_length=16)
    tokenizer.backend_tokenizer.enable_truncation(16)
    assert len(tokens_of(None, tokenizer).encode("word " * 50)) == 250


def test_any_function_from_a_text_to_ids_is_a_tokenizer() -> None:
    assert tokens_of(object(), letters).encode("hé") == [104, 195, 169]


def test_a_model_in_memory_needs_one() -> None:
    with pytest.raises(GnomonError, match="give tokenizer="):
        tokens_of(object())


def test_something_else_is_no_tokenizer() -> None:
    with pytest.raises(GnomonError, match="got int"):
        tokens_of(None, 3)


def test_a_folder_without_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match=r"no tokenizer that can be read in .*copy tokenizer\.json"):
        tokens_of(tmp_path)


def test_a_tokenizer_that_brings_code_is_refused_and_its_code_not_run(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text('{"auto_map": {"AutoTokenizer": ["own.Tokenizer", null]}}')
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Tokenizer: pass\n")
    with pytest.raises(GnomonError):
        tokens_of(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_a_short_text_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("short")
    with pytest.raises(GnomonError, match="has 5 tokens, too few to measure on; give one of 64 or more"):
        ids_of(tokens_of(None, letters), tmp_path / "short.txt")
