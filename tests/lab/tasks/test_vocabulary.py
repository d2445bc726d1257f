import numpy as np

from gnomon.lab.tasks.vocabulary import OWN, UNKNOWN, Vocabulary, character_codes, word_codes


def test_symbols_seen_often_enough_have_ids_of_their_own_in_rising_order() -> None:
    codes = character_codes(["天地天", "地人"], longest=9)
    vocabulary = Vocabulary.of(codes)
    assert vocabulary.size == OWN + 2
    # 地 is U+5730 and 天 is U+5929; 人 is there once, and is unknown.
    assert vocabulary.ids(codes).tolist() == [[OWN + 1, OWN, OWN + 1], [OWN, UNKNOWN, 0]]
    assert vocabulary.ids(character_codes(["火天水"], longest=9)).tolist() == [[UNKNOWN, OWN + 1, UNKNOWN]]


def test_nothing_may_be_seen_often_enough() -> None:
    assert Vocabulary.of(np.array([[3, 0]])).ids(np.array([[3, 0]])).tolist() == [[UNKNOWN, 0]]


def test_texts_are_cut_and_padded_and_characters_beyond_16_bits_are_one_symbol() -> None:
    assert character_codes(["𠀀", "abc"], longest=2).tolist() == [[0x20000, 0], [97, 98]]
    assert character_codes([], longest=2).shape == (0, 0)


def test_words_are_numbered_over_several_calls() -> None:
    numbers: dict[str, int] = {}
    assert word_codes([["a", "b"]], numbers).tolist() == [[1, 2]]
    assert word_codes([["c", "a", "c"], []], numbers).tolist() == [[3, 1, 3], [0, 0, 0]]
