"""What a page of docs/encodings must say because the code says it: the promises of an encoding, as a table."""

from gnomon.encodings import PositionEncoding, registry

NUM_HEADS, HEAD_DIM = 4, 8
WORDS = {True: "yes", False: "no"}


def promises(name: str) -> str:
    """The table of promises of the usual instance of an encoding, as it stands on its page."""
    encoding: PositionEncoding = registry.get(name).sample(NUM_HEADS, HEAD_DIM)
    rows = {
        "hooks": ", ".join(f"`{hook}`" for hook in hooks(encoding)) or "none",
        "relative": WORDS[encoding.relative],
        "learned": WORDS[encoding.learned],
        "depends on the length": WORDS[encoding.length_dependent],
        "keeps the norm of queries and keys": WORDS[encoding.norm_preserving],
        "causal masks only": WORDS[encoding.causal_only],
        "coordinates of a position": str(encoding.axes),
        "limit": "by its options" if encoding.max_length or encoding.grid else "none",
    }
    return "\n".join(["| promise | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows.items())])


def hooks(encoding: PositionEncoding) -> list[str]:
    """The hooks that the class defines itself."""
    names = ("embed", "rotate_query", "rotate_key", "bias", "content_bias")
    return [name for name in names if getattr(type(encoding), name) is not getattr(PositionEncoding, name)]
