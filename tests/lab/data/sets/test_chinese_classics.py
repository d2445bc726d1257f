import json

from gnomon.lab.data.sets.chinese_classics import BOOKS, NOVEL, ChineseClassics

CHAPTERS = ["第一回\n\n \n\t滚滚长江\n\u3000\u3000东逝水", "第二回", "第三回", "第四回", "第五回"]


def test_chapters_and_essays_are_documents_and_one_in_four_is_for_tests() -> None:
    lunyu = [{"chapter": "學而", "paragraphs": ["子曰。", "有子曰。"]}, {"chapter": "為政", "paragraphs": ["甲"]}]
    essays = {
        "title": "x",
        "abstract": ["no"],
        "content": [{"content": [{"paragraphs": ["乙"]}, {"paragraphs": ["丙"]}]}],
    }
    books = {f"package/dist/{book}.json": b"{}" for book in BOOKS}
    books[f"package/dist/{BOOKS[0]}.json"] = json.dumps(lunyu).encode()
    books[f"package/dist/{BOOKS[5]}.json"] = json.dumps(essays).encode()
    files = {NOVEL: json.dumps(CHAPTERS).encode(), **books}
    assert all(ChineseClassics().wanted(file) for file in files)
    found = {name: content.decode() for name, content in ChineseClassics().convert(files).items()}
    # The documents are 第一回 .. 第五回, 子曰, 甲, 乙, 丙; the first, the fifth and the ninth are for tests.
    assert found["test.txt"] == "第一回\n滚滚长江\n东逝水\n第五回\n丙"
    assert found["train.txt"] == "第二回\n第三回\n第四回\n子曰。\n有子曰。\n甲\n乙"
