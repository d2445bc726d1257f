"""Which stacks a user asks for: names, other names, and versions, as in `vllm`, `hf4@4.43` or `sglang@all`."""

from collections.abc import Iterable, Iterator

from gnomon.errors import GnomonError
from gnomon.resolving.stack import OTHER_NAMES, OTHER_VERSIONS, Stack, Version, registry

Asked = tuple[Stack, Version]


def asked(stacks: str | Iterable[str] | None) -> list[Asked]:
    """The stacks in the order of the names, each once; all of them in their newest versions for None.

    `stacks`: names in a list, or one string with commas. Raises UnknownNameError with the names that there are.
    """
    names = registry.names() if stacks is None else stacks.split(",") if isinstance(stacks, str) else list(stacks)
    found = {pair_name(pair): pair for name in names if str(name).strip() for pair in _versions(str(name).strip())}
    if not found:
        raise GnomonError(f"No engine is named; there are {', '.join(registry.names())}.")
    return list(found.values())


def one(name: str) -> Asked:
    """The stack and version that a reference is named by."""
    pairs = asked(name)
    if len(pairs) != 1:
        raise GnomonError(f"The reference is one engine in one version, as in hf5 or hf4@4.43; got {name!r}.")
    return pairs[0]


def pair_name(pair: Asked) -> str:
    """stack@version."""
    return f"{pair[0].name}@{pair[1].name}"


def _versions(name: str) -> Iterator[Asked]:
    stack, _, version = OTHER_VERSIONS.get(name.lower(), name).partition("@")
    kind = registry.get(OTHER_NAMES.get(stack.lower(), stack.lower()))
    if not version:
        yield kind(), kind.versions[0]
    elif version == "all":
        yield from ((kind(), each) for each in kind.versions)
    else:
        yield kind(), kind.version(version)
