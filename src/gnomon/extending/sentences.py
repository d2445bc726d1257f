"""Words of a plan as whole sentences."""

from collections.abc import Iterable


def sentences(words: Iterable[str]) -> tuple[str, ...]:
    """Each with a capital, unless it begins with the name of a key or of a kind of layer, and with a full stop.

    >>> sentences(["the base grows", "rope_theta stays", "Done."])
    ('The base grows.', 'rope_theta stays.', 'Done.')
    """
    return tuple(_whole(word) for word in words)


def _whole(word: str) -> str:
    begins_with_name = "_" in word.split(" ", 1)[0] or word.startswith(("gnomon", "transformers", "llama"))
    first = word if begins_with_name else word[:1].upper() + word[1:]
    return first if first.endswith((".", "!", "?")) else f"{first}."
