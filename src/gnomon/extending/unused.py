"""What a user asks for and nothing would read: refused, because a wish that is passed over in silence looks granted."""

from gnomon.errors import GnomonError
from gnomon.extending.asked import Asked

STRETCHING = ("interpolate", "keep-first")
HIERARCHICAL = "hierarchical"


def require_read(asked: Asked, *, turned: bool, tables: bool) -> None:
    """Raises GnomonError with one sentence for an option that an extension of a folder does not read.

    `turned`: the rotation is extended; `tables`: tables of positions are.
    """
    if asked.original is not None and not turned:
        _refuse("original", "the model turns no queries and keys, and a table has its own length")
    if asked.lists is not None and not turned:
        _refuse("lists", "the model turns no queries and keys that divisors could slow")
    if asked.stacks is not None and not turned:
        _refuse("stack", "engines are asked about rotation alone, and here only tables or lengths change")
    if asked.optimizer and not tables:
        _refuse("optimizer", "no table of positions changes, so the moments of all tensors stay as they are")
    _require_table_options(asked, tables)


def require_read_of_gguf(asked: Asked) -> None:
    """The same for a GGUF file, in which frequencies and lengths are all that changes."""
    if asked.gguf:
        _refuse("gguf", "the source is a GGUF file itself")
    if asked.optimizer:
        _refuse("optimizer", "a GGUF file has no optimizer state beside it")
    _require_table_options(asked, tables=False)


def _require_table_options(asked: Asked, tables: bool) -> None:
    options, method = asked.tables, asked.method
    if options is None:
        return
    where = f"with --method {method}" if tables else "in a model without tables of positions"
    grid = isinstance(asked.to, tuple) and method == "auto"
    if options.kind != "auto" and not (tables and (method in STRETCHING or grid)):
        _refuse("kind", f"nothing is interpolated {where}; it is for {' and '.join(STRETCHING)}")
    if options.keep is not None and not (tables and method == "keep-first"):
        _refuse("keep", f"nothing is kept {where}; it is for keep-first")
    if options.alpha is not None and not (tables and method == HIERARCHICAL):
        _refuse("alpha", f"there are no digits {where}; it is for {HIERARCHICAL}")
    if options.part is not None and not tables:
        _refuse("part", f"there is nothing to choose {where}")


def _refuse(option: str, why: str) -> None:
    raise GnomonError(f"Nothing would read --{option}: {why}; leave it out.")
