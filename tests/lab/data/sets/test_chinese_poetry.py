import json
from collections.abc import Iterator

import pytest

from gnomon.lab.data.sets import chinese_poetry
from gnomon.lab.data.sets.chinese_poetry import ChinesePoetry, regular, verses

QUATRAIN = ["白日依山盡，黃河入海流。", "欲窮千里目，更上一層樓。"]
TONES = ["仄仄平平仄，平○仄仄平。", "仄平平仄仄，？仄仄平平。"]


def poem(paragraphs: list[str], tones: list[str]) -> list[tuple[str, str]]:
    return list(regular([{"id": "x", "paragraphs": paragraphs}], [{"id": "x", "strains": tones}]))


def test_stops_are_left_out_and_tones_are_numbers() -> None:
    assert poem(QUATRAIN, TONES) == [("白日依山盡黃河入海流欲窮千里目更上一層樓", "11001021101001131100")]


def test_poems_that_are_irregular_or_without_a_tone_for_each_character_are_left_out() -> None:
    assert poem(QUATRAIN[:1], TONES[:1]) == []  # two verses
    assert poem(QUATRAIN, [TONES[0], TONES[1][:-2] + "。"]) == []  # a tone is missing
    assert poem([QUATRAIN[0], "欲窮千里目明，更上一層樓。"], [TONES[0], "仄平平仄仄平，仄仄仄平平。"]) == []
    assert poem([QUATRAIN[0], "欲窮千里□，更上一層樓。"], TONES) == []  # a character that is lost
    assert poem([], []) == []
    assert list(regular([{"id": "x", "paragraphs": QUATRAIN}], [{"id": "y", "strains": TONES}])) == []


def a_poem(number: int, last: int | None = None) -> str:
    """Four verses of five characters of their own; with `last`, the fourth is that of another poem."""
    start = 0x4E00 + 20 * number
    own = [chr(start + n) for n in range(20)]
    other = [chr(0x4E00 + 20 * last + n) for n in range(15, 20)] if last is not None else own[15:]
    return "".join(own[:15] + other)


def files(texts: list[str]) -> Iterator[tuple[str, bytes]]:
    lines = [[f"{a}，{b}。", f"{c}，{d}。"] for a, b, c, d in map(verses, texts)]
    poems = [{"id": str(n), "paragraphs": line} for n, line in enumerate(lines)]
    tones = [{"id": str(n), "strains": ["平平平平平，仄仄仄仄仄。"] * 2} for n in range(len(texts))]
    yield "package/dist/quantangshi/poet.tang.0.json", json.dumps(poems).encode()
    yield "package/dist/strains/json/poet.tang.0.json", json.dumps(tones).encode()


def test_no_poem_is_there_twice_and_tests_share_no_verse_with_training() -> None:
    texts = [a_poem(n) for n in range(40)]
    found = ChinesePoetry().convert(dict(files([*texts, *texts[:7]])))
    train, test = (
        [line.split("\t")[0] for line in found[f"{part}.txt"].decode().splitlines()] for part in ("train", "test")
    )
    assert sorted(train + test) == sorted(texts)
    assert len(test) == 4
    # Now every poem ends with the last verse of poem 0: nothing is left for tests.
    found = ChinesePoetry().convert(dict(files([a_poem(n, last=0) for n in range(40)])))
    assert found["test.txt"] == b""


def test_of_each_form_as_many_as_said_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chinese_poetry, "MOST", 10)
    found = ChinesePoetry().convert(dict(files([a_poem(n) for n in range(40)])))
    assert [len(found[f"{part}.txt"].decode().splitlines()) for part in ("train", "test")] == [9, 1]


def test_poems_and_tones_are_wanted_and_other_files_are_not() -> None:
    wanted = ChinesePoetry().wanted
    assert all(wanted(name) for name, _ in files([]))
    assert not wanted("package/dist/quantangshi/error/poet.tang.0.json")
    assert not wanted("package/dist/quantangshi/authors.tang.json")
