"""A data set: the packages that it comes from, and how their files become the few that tasks read."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from gnomon.lab.data.packages import Package
from gnomon.registry import Registry

registry: Registry[type["DataSet"]] = Registry("data set", package="gnomon.lab.data.sets")


class DataSet(ABC):
    """Registered under the name that `gnomon lab data NAME` takes."""

    title: ClassVar[str]  #: a few words
    licence: ClassVar[str]  #: of the text, and of the package where it is another
    packages: ClassVar[tuple[Package, ...]]
    megabytes: ClassVar[float]  #: of the archives: what is downloaded
    needs: ClassVar[tuple[str, ...]] = ()  #: modules that `convert` imports, of the extra `lab`
    expected: ClassVar[Mapping[str, str]] = {}  #: the SHA-256 of files that are the same from every release

    @abstractmethod
    def wanted(self, file: str) -> bool:
        """Whether a file of an archive is read, by its name there."""

    @abstractmethod
    def convert(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """What is kept, by file name; the same input gives the same bytes."""


def by_document(documents: list[str], every: int) -> dict[str, bytes]:
    """train.txt and test.txt: one document in `every`, from the first on, is for tests.

    >>> by_document(["a", "b", "c"], every=3)
    {'train.txt': b'b\\nc', 'test.txt': b'a'}
    """
    train = "\n".join(text for number, text in enumerate(documents) if number % every)
    return {"train.txt": train.encode(), "test.txt": "\n".join(documents[::every]).encode()}
