"""What the numbers of a check say, in sentences that never go beyond noise."""

from collections.abc import Iterator

from gnomon.extending.checking.embedding import Documents, Short
from gnomon.extending.checking.results import AtLength, Checked, Keys, Models

SAME = 1e-5  #: a cosine this close to 1 is one


def verdict(checked: Checked) -> tuple[str, ...]:
    """Short contexts first, then long ones, then keys and documents, then what was not measured."""
    models = checked.models
    return (
        *(sentence for at in checked.lengths for sentence in _losses(at, checked.last, models)),
        *(sentence for keys in checked.keys if (sentence := _keys(keys, models))),
        *(_short(short) for short in checked.short),
        *(sentence for documents in checked.documents for sentence in _documents(documents, models)),
        *checked.left_out,
    )


def _losses(at: AtLength, last: int, models: Models) -> Iterator[str]:
    if models.within(at.length):
        if at.windows.difference is None:
            yield f"At {at.length} tokens nothing could be compared: {at.why}."
            return
        change = at.last if not at.windows.direction and at.last.direction else at.windows
        what = "loss" if change is at.windows else f"loss of the last {last} tokens"
        judged = {1: ": short contexts got worse", -1: ": short contexts got better"}.get(change.direction, "")
        yield f"At {at.length} tokens {change.sentence(what)}{judged}."
        return
    if at.windows.difference is not None:
        yield f"At {at.length} tokens, beyond the old length, {at.windows.sentence('loss')}."
    elif at.windows.after is not None:
        yield f"At {at.length} tokens the loss is {at.windows.after:.3f}; {models.before} cannot run there."
    else:
        yield f"At {at.length} tokens nothing was measured: {at.why}."
    if at.gain is not None and at.gain.difference is not None:
        judged = {1: ": the longer context hurts", -1: ": the longer context helps"}.get(at.gain.direction, "")
        yield (
            f"Of the last {last} tokens, read after {at.length} in all by {models.after} instead of within the old "
            f"length by {models.before}, {at.gain.sentence('loss')}{judged}."
        )


def _keys(keys: Keys, models: Models) -> str:
    told = [
        f"{name} finds {sum(each.found for each in found)} of {len(found)} keys (mean rank of their tokens "
        f"{sum(each.rank for each in found) / len(found):.1f})"
        for name, found in ((models.before, keys.before), (models.after, keys.after))
        if found
    ]
    return f"In {keys.length} tokens {' and '.join(told)}." if told else ""


def _short(short: Short) -> str:
    if short.lowest >= 1 - SAME:
        return f"Inputs of {short.length} tokens keep their vectors (lowest cosine {short.lowest:.6f})."
    return (
        f"Inputs of {short.length} tokens get other vectors: cosine with the ones before {short.mean:.4f} in the mean, "
        f"{short.lowest:.4f} at the lowest."
    )


def _documents(documents: Documents, models: Models) -> Iterator[str]:
    change = documents.found.sentence("share of parts that find their document", "documents")
    worse = models.within(documents.length) and documents.found.direction < 0
    yield (
        f"Among {documents.documents} documents of {documents.length} tokens {change}"
        f"{': short contexts got worse' if worse else ''}."
    )
    if documents.beyond is not None:
        yield (
            f"Of the parts from beyond {models.old} tokens, which {models.before} does not read, "
            f"{documents.beyond.sentence('share that find their document', 'documents')}."
        )
