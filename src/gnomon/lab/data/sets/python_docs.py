"""The documentation of Python, as its authors write it."""

import re
from collections.abc import Mapping
from typing import final

from gnomon.lab.data.dataset import DataSet, by_document, registry
from gnomon.lab.data.packages import Debian

PAGE = re.compile(r"usr/share/doc/python3\.\d+/html/_sources/(.+)\.rst\.txt")


@registry.register("python-docs")
@final
class PythonDocs(DataSet):
    """Pages in reStructuredText in the order of their names; one in ten is for tests. It differs by release."""

    title = "Python's documentation (English, reStructuredText)"
    licence = "PSF License"
    packages = (Debian(("python3.11-doc", "python3.13-doc", "python3.12-doc", "python3.14-doc", "python3.10-doc")),)
    megabytes = 12.6

    def wanted(self, file: str) -> bool:
        return PAGE.fullmatch(file) is not None

    def convert(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        return by_document([files[name].decode() for name in sorted(files)], every=10)
