"""PE410: decoding runs past the last row of a position table without being refused or grown for."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.beyond import PASS, beyond_table
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.noise import difference, shift_tolerance
from gnomon.report.document import Finding, Measured


@check("PE410", "decode-beyond-table", severity="error", needs=(model, beyond_table))
def decode_beyond_table(subject: Subject) -> Iterator[Finding | Measured]:
    """Tokens fed through the cache beyond the last row of a position table fail, or get another row than in one pass.

    Why: a bound that is tested against the length of the new chunk, or a table that grows by it, forgets the tokens in
    the cache. A slice that ends beyond the table comes back short: it crashes, or one row is spread over all new tokens
    and nobody is told.

    Fix: compare the last position, cached tokens plus new ones, with the rows of the table; then grow the table, or
    refuse with an error that names both numbers.

    Sources: transformers pull request 15444 (tables of XGLM and M2M100 grew without the cache), karpathy/nanochat#520
    (bound tested against the chunk), unslothai/unsloth#3036 (a table passed in and never grown).
    """
    probe, found = model(subject), beyond_table(subject)
    limit = shift_tolerance(probe.tolerance, found.rows + PASS)
    need = found.rows + PASS - 1
    fix = f"compare the cached tokens plus the new ones with the rows: {need} tokens need {need} rows; grow, or refuse"
    for name, output in (("one chunk", found.chunk), ("one token at a time", found.steps)):
        if found.whole is None and output is not None:
            yield Measured(f"tokens taken beyond {found.rows} rows, {name}", need, found.rows, "rows of the table")
            yield Finding(
                "the cache",
                f"one pass refuses {need} tokens, as the table has {found.rows} rows, but through the cache {PASS} "
                f"tokens after {found.rows - 1} are taken ({name}): they get rows that are not theirs",
                fix,
                {"rows": found.rows, "tokens": need},
            )
            return
        if found.whole is not None and output is None:
            yield Finding(
                "the cache",
                f"one pass takes {need} tokens beyond a table of {found.rows} rows, decoding to the same length fails "
                f"({name}): {found.reason}",
                fix,
                {"rows": found.rows, "tokens": need},
            )
            return
        effect = 0.0 if found.whole is None or output is None else difference(found.whole, output)
        yield Measured(f"beyond {found.rows} rows, {name}, against one pass", effect, limit, "0 where both refuse")
        if effect > limit:
            yield Finding(
                "the cache",
                f"beyond {found.rows} rows of the table decoding {name} differs from one pass by {effect:.2g} of the "
                "output's size",
                fix,
                {"effect": effect, "rows": found.rows},
            )
            return
