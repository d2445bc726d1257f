from gnomon.lab.data.sets.python_docs import PythonDocs


def test_pages_are_in_the_order_of_their_names_and_one_in_ten_is_for_tests() -> None:
    folder = "usr/share/doc/python3.13/html/_sources/"
    files = {f"{folder}library/{chr(ord('a') + n)}.rst.txt": f"page {n}".encode() for n in reversed(range(12))}
    found = PythonDocs().convert(files)
    assert found["test.txt"] == b"page 0\npage 10"
    assert found["train.txt"].decode().splitlines() == [f"page {n}" for n in range(12) if n not in (0, 10)]


def test_sources_of_any_version_are_wanted_and_pages_are_not() -> None:
    wanted = PythonDocs().wanted
    assert wanted("usr/share/doc/python3.11/html/_sources/library/re.rst.txt")
    assert not wanted("usr/share/doc/python3.11/html/library/re.html")
    assert not wanted("usr/share/doc/python3/html/_sources/library/re.rst.txt")
