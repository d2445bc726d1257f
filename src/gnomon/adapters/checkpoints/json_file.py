"""Reads a JSON object from a file that may be missing, broken, hostile or huge: one sentence for each way to fail."""

import codecs
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon.errors import UnsupportedTargetError

CONFIG_LIMIT = 16 * 2**20  # the largest config.json known is under 1 MB
INDEX_LIMIT = 100 * 2**20


def read_json_object(path: Path, *, limit: int = CONFIG_LIMIT) -> dict[str, Any]:
    """The JSON object in `path`; raises UnsupportedTargetError, also above `limit` bytes."""
    size = require_file(path)
    if size > limit:
        raise UnsupportedTargetError(
            f"{path} has {size:,} bytes, more than the {limit:,} that gnomon reads as JSON; is it the right file?"
        )
    return parse_json_object(read_bytes(path), str(path))


def parse_json_object(data: bytes, name: str) -> dict[str, Any]:
    """`data` as a JSON object; `name` stands in the error."""
    if data.startswith(codecs.BOM_UTF8):  # transformers and safetensors refuse it, so the rest would fail later
        raise UnsupportedTargetError(f"{name} starts with a byte-order mark; save it as UTF-8 without one.")
    try:
        value = json.loads(data.decode())
    except RecursionError:
        raise UnsupportedTargetError(f"{name} is not usable JSON: it is nested too deeply.") from None
    except ValueError as error:
        raise UnsupportedTargetError(f"{name} is not valid JSON: {error}.") from None
    if not isinstance(value, dict):
        raise UnsupportedTargetError(f"{name} must hold a JSON object, but it holds a {type(value).__name__}.")
    return value


def json_bytes(content: Mapping[str, Any]) -> bytes:
    """A JSON file; half of a pair of surrogates, which UTF-8 does not have, stays the escape that it was.

    >>> json_bytes({"a": chr(0xFC)}).decode().split(), json_bytes({"a": chr(0xD800)}).decode().split()
    (['{', '"a":', '"ü"', '}'], ['{', '"a":', '"\\\\ud800"', '}'])
    """
    try:
        return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(content, indent=2) + "\n").encode()


def require_file(path: Path) -> int:
    """The size of a regular file; raises UnsupportedTargetError when there is none (a pipe would block a reader)."""
    try:
        if path.is_dir():
            raise UnsupportedTargetError(f"{path} is a folder, where a file is expected.")
        if not path.exists():
            raise UnsupportedTargetError(f"There is no file {path}.")
        if not path.is_file():
            raise UnsupportedTargetError(f"{path} is not a regular file.")
        return path.stat().st_size
    except OSError as error:
        raise UnsupportedTargetError(f"{path} cannot be read: {error.strerror}.") from None


def read_bytes(path: Path) -> bytes:
    """All bytes of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnsupportedTargetError(f"{path} cannot be read: {error.strerror}.") from None
