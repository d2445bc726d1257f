from gnomon.lab.data.sets.petrogold import PetroGold, trees

TREE = """# text = Fica na costa
# sent_id = doc_A-1
1\tFica\tficar\tVERB\t_\t_\t0\troot\t_\t_
2-3\tna\t_\t_\t_\t_\t_\t_\t_\t_
2\tem\tem\tADP\t_\t_\t4\tcase\t_\t_
3\ta\to\tDET\t_\t_\t4\tdet\t_\t_
4\tcosta\tcosta\tNOUN\t_\t_\t1\tobl\t_\t_
"""


def one(document: int, word: str) -> str:
    return f"# sent_id = doc_{document}-1\n1\t{word}\t{word}\tX\t_\t_\t0\troot\t_\t_\n"


def test_words_of_a_contraction_stay_and_the_contraction_goes() -> None:
    assert list(trees(TREE)) == [("doc_A", "Fica em a costa\t0 4 4 1")]


def test_whole_documents_are_for_tests_without_sentences_that_are_in_others() -> None:
    text = "\n".join(one(n, word) for n in range(6) for word in ("resumo", f"w{n}", f"v{n}", f"w{n}"))
    found = PetroGold().convert({"dante/data/petrogold/annotated.conllu": text.encode()})
    assert found["test.txt"].decode().splitlines() == ["w0\t0", "v0\t0", "w5\t0", "v5\t0"]
    assert found["train.txt"].decode().splitlines()[:4] == ["resumo\t0", "w1\t0", "v1\t0", "w2\t0"]
