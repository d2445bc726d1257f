"""Chinese poems in the four regular forms, with the tone class of each character."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, final

from gnomon.lab.data.dataset import DataSet, registry
from gnomon.lab.data.packages import Npm

CHINESE_POETRY = Npm(
    "chinese-poetry",
    "2.0.1",
    "sha512-KtYARvV7CWNtax0na9+Jn6PlhGgSoid7PWyDzXI4KsCEm2odZcqEQyval5koaLygZnM/EQ3lfJ//25K8p3uHNg==",
)
POEMS = re.compile(r"package/dist/(?:quantangshi|strains/json)/(poet\.(?:tang|song)\.\d+)\.json")
STOPS = re.compile("[，。？！；]")
TONES = {"平": "0", "仄": "1", "○": "2", "？": "3"}  #: level, oblique, either, unknown
FORMS = {20: 5, 28: 7, 40: 5, 56: 7}  #: characters of a verse, by those of the poem: quatrains and eight-line poems
MOST = 15_000  #: of each form; there are from 17,000 to 83,000
EVERY = 10  #: one poem in ten is for tests


@registry.register("chinese-poetry")
@final
class ChinesePoetry(DataSet):
    """Lines of "characters, tab, tones" (0 level, 1 oblique, 2 either, 3 unknown), punctuation left out.

    A poem is kept when its four or eight verses all have five or seven characters and each has a tone. Which poems are
    kept, and which of them are for tests, follows from the checksums of their characters, so it is no choice of ours.
    A poem for tests has no verse in common with those to train on.
    """

    title = "Tang and Song poems in regular forms, with tones (Chinese)"
    licence = "text: public domain; package: MIT"
    packages = (CHINESE_POETRY,)
    megabytes = 85.5

    def wanted(self, file: str) -> bool:
        return POEMS.fullmatch(file) is not None

    def convert(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        found: dict[str, str] = {}
        for name in sorted(file for file in files if "/quantangshi/" in file):
            tones = files.get(name.replace("/quantangshi/", "/strains/json/"))
            found.update(regular(json.loads(files[name]), json.loads(tones or b"[]")))
        ordered = sorted(found, key=lambda text: hashlib.sha256(text.encode()).digest())
        kept = [text for form in FORMS for text in [text for text in ordered if len(text) == form][:MOST]]
        train = [text for number, text in enumerate(kept) if number % EVERY]
        seen = {verse for text in train for verse in verses(text)}
        test = [text for text in kept[::EVERY] if seen.isdisjoint(verses(text))]
        return {
            f"{part}.txt": "\n".join(f"{text}\t{found[text]}" for text in texts).encode()
            for part, texts in (("train", train), ("test", test))
        }


def verses(text: str) -> list[str]:
    """The verses of a poem in a regular form.

    >>> verses("床前明月光疑是地上霜舉頭望山月低頭思故鄉")
    ['床前明月光', '疑是地上霜', '舉頭望山月', '低頭思故鄉']
    """
    size = FORMS[len(text)]
    return [text[start : start + size] for start in range(0, len(text), size)]


def regular(poems: list[dict[str, Any]], tones: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """(characters, tones) of the poems in one of the four forms.

    >>> poem = {"id": "x", "paragraphs": ["床前明月光，疑是地上霜。", "舉頭望山月，低頭思故鄉。"]}
    >>> told = {"id": "x", "strains": ["平平平仄平，平仄仄仄平。", "仄平仄平仄，平平平仄平。"]}
    >>> list(regular([poem], [told]))
    [('床前明月光疑是地上霜舉頭望山月低頭思故鄉', '00010011101010100010')]
    """
    by_id = {poem["id"]: poem["strains"] for poem in tones}
    for poem in poems:
        text, told = "".join(poem["paragraphs"]), "".join(by_id.get(poem["id"], []))
        found = [verse for verse in STOPS.split(text) if verse]
        if len(told) != len(text) or len(found) not in (4, 8) or {len(verse) for verse in found} not in ({5}, {7}):
            continue
        # What is no stop is a character, and "？" among the tones of characters is an unknown one.
        marks = "".join(TONES.get(tone, "") for tone, at in zip(told, text, strict=True) if not STOPS.match(at))
        if len(marks) == sum(map(len, found)) and all(verse.isalpha() for verse in found):
            yield "".join(found), marks
