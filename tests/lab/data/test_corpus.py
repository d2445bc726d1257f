from pathlib import Path

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.data.corpus import in_bytes, in_characters, load_corpus
from gnomon.lab.data.stdlib import SplitText
from tests.helpers.stored_data import store


def test_bytes_stay_bytes_and_take_one_byte_each() -> None:
    corpus = in_bytes("x", SplitText("aé".encode(), b"b\xff"))
    assert corpus.train.tolist() == [97, 0xC3, 0xA9]
    assert corpus.test.tolist() == [98, 255]
    assert corpus.train.dtype == torch.uint8
    assert corpus.vocabulary == 256


def test_frequent_characters_of_the_training_part_have_ids_in_the_order_of_their_counts() -> None:
    corpus = in_characters("x", SplitText("道可道非常道名可名".encode(), "天下道𠀀可".encode()), frequent=3)
    # 道 3 times; 可 and 名 twice each, 可 (U+53EF) before 名 (U+540D); the others are unknown.
    assert corpus.train.tolist() == [1, 2, 1, 0, 0, 1, 3, 2, 3]
    assert corpus.test.tolist() == [0, 0, 1, 0, 2]
    assert corpus.vocabulary == 4
    assert corpus.train.dtype == torch.int16


def test_a_fetched_corpus_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    with pytest.raises(GnomonError, match="run `gnomon lab data austen` first"):
        load_corpus("austen")
    store("austen", {"train.txt": "Emma", "test.txt": "Anne"})
    corpus = load_corpus("austen")
    assert bytes(corpus.train.tolist()) == b"Emma"
    assert bytes(corpus.test.tolist()) == b"Anne"
    store("chinese-classics", {"train.txt": "子曰子", "test.txt": "曰"})
    assert load_corpus("chinese-classics").test.tolist() == [2]


def test_another_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        GnomonError, match="No corpus is called 'x'; there are austen, chinese-classics, python-docs, stdlib"
    ):
        load_corpus("x")
