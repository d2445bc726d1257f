"""What data are today, to tell whether a stored result was made from them."""

from functools import cache

from gnomon.errors import GnomonError

CORPUS = "corpus "  #: how tasks that read long text name what they read


@cache
def checksum_today(name: str) -> str | None:
    """Of what a result calls `name` in its data; None where it is not on this machine.

    >>> checksum_today("no such data") is None
    True
    """
    try:
        if name.startswith(CORPUS):
            from gnomon.lab.data.corpus import load_corpus

            return load_corpus(name.removeprefix(CORPUS)).checksum
        from gnomon.lab.data.cache import find

        found = find(name)
        return None if found is None else found.checksum
    except GnomonError:
        return None
