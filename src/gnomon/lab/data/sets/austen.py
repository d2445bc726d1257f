"""Jane Austen's six novels, from the R package janeaustenr."""

import zlib
from collections.abc import Mapping
from typing import Any, ClassVar, final

from gnomon.lab.data.dataset import DataSet, registry
from gnomon.lab.data.packages import Debian

FOLDER = "janeaustenr/data/Rdata"
TEST = "persuasion"  #: one whole novel


@registry.register("austen")
@final
class Austen(DataSet):
    """Five novels to train on, and Persuasion for tests: text of one author, none of it seen before."""

    title = "Jane Austen, six novels (English)"
    licence = "text: public domain; package: MIT"
    packages = (Debian(("r-cran-janeaustenr",)),)
    megabytes = 1.6
    needs = ("rdata",)
    expected: ClassVar[Mapping[str, str]] = {
        "train.txt": "a38f622dcf6a5d79ff2f7a573a76dff2e7f5a3242d3780ebe796d51eb139ceb4",
        "test.txt": "8061549557aebd2fd6e353d18d9197cb707029112bd52d4d8b174583a925848a",
    }

    def wanted(self, file: str) -> bool:
        return file.endswith((f"{FOLDER}.rdb", f"{FOLDER}.rdx"))

    def convert(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        by_end = {name.rpartition(".")[2]: content for name, content in files.items()}
        places = _unserialised(by_end["rdx"])["variables"]
        novels = {str(name): _novel(by_end["rdb"], *map(int, place)) for name, place in sorted(places.items())}
        test = novels.pop(TEST)
        return {"train.txt": "\n".join(novels.values()).encode(), "test.txt": test.encode()}


def _novel(values: bytes, start: int, length: int) -> str:
    """A value of R's lazy-load data base: four bytes of its length, then zlib's format."""
    lines = _unserialised(zlib.decompress(values[start + 4 : start + length]))
    return "\n".join(str(line) for line in lines).strip() + "\n"


def _unserialised(data: bytes) -> Any:
    import rdata

    return rdata.conversion.convert(rdata.parser.parse_data(data, extension=".rds"))
