import gzip
import io
import zlib
from pathlib import Path

import numpy as np
import rdata

from gnomon.lab.data.sets.austen import Austen

NOVELS = {
    "emma": ["Emma", "", "by Jane Austen"],
    "persuasion": ["Persuasion", "He was kind.", ""],
    "abbey": ["Abbey"],
}


def serialised(value: object, folder: Path) -> bytes:
    """R's own format, written by rdata, compressed with gzip."""
    rdata.write_rds(folder / "x.rds", value, compression="gzip")
    return (folder / "x.rds").read_bytes()


def test_novels_of_a_lazy_load_data_base_are_read_and_one_is_for_tests(tmp_path: Path) -> None:
    base, places = io.BytesIO(b""), {}
    for name, lines in NOVELS.items():
        packed = zlib.compress(gzip.decompress(serialised(np.array(lines), tmp_path)))
        places[name] = np.array([base.tell(), 4 + len(packed)], np.int32)
        base.write(len(packed).to_bytes(4, "big") + packed)
    index = serialised({"variables": places, "compressed": True}, tmp_path)
    folder = "usr/lib/R/site-library/janeaustenr/data/Rdata"
    files = {f"{folder}.rdx": index, f"{folder}.rdb": base.getvalue()}
    assert all(Austen().wanted(file) for file in files)
    assert not Austen().wanted("usr/lib/R/site-library/janeaustenr/R/janeaustenr.rdb")
    assert Austen().convert(files) == {
        "train.txt": b"Abbey\n\nEmma\n\nby Jane Austen\n",
        "test.txt": b"Persuasion\nHe was kind.\n",
    }


def test_the_text_is_held_to_its_checksum() -> None:
    assert set(Austen.expected) == {"train.txt", "test.txt"}
