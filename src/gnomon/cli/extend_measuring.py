"""What `gnomon extend` measures: a search before it writes, and a check of what was written."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.extending.asked import Asked
    from gnomon.extending.checking import Checked
    from gnomon.extending.searching.results import Searched

Tell = Callable[[str], None]
DRAWN = (".png", ".svg", ".html")


@final
@dataclass(frozen=True)
class Measuring:
    """The options of both, as they were given."""

    check: Path | None
    check_lengths: tuple[int, ...]
    figure: Path | None
    budget: int | None
    search_length: int | None
    text: Path | None
    seed: int

    def require_together(self, *, writes: bool) -> None:
        """Raises GnomonError for options that do not go together, and for texts that are not there."""
        if (self.budget is None) != (self.text is None):
            raise GnomonError("A search needs a budget and a text: --search BUDGET --text FILE.")
        if self.search_length is not None and self.budget is None:
            raise GnomonError("--search-length is for a search: --search BUDGET --text FILE.")
        if self.check is None and (self.check_lengths or self.figure):
            raise GnomonError("--check-length and --check-figure are for a check: --check TEXT.")
        if self.check is not None and not writes:
            raise GnomonError("--check measures what was written: give -o OUT, and no --dry-run.")
        if self.figure is not None:
            _require_drawable(self.figure)
        for path in (self.check, self.text):
            if path is not None and not path.is_file():
                raise GnomonError(f"There is no text file {path}.")

    def aimed(self, asked: "Asked") -> "Asked":
        """What is asked for where a search will find the lists."""
        if self.budget is None:
            return asked
        if not isinstance(asked.to, int) or asked.method not in ("auto", "longrope"):
            raise GnomonError("A search is for LongRoPE's divisors of a rotary model: --method longrope --to N.")
        return replace(asked, method="longrope")

    def require_texts(self, checkpoint: Path, asked: "Asked") -> None:
        """Raises GnomonError where a text, or the tokenizer, would end the search, or the check after writing."""
        from gnomon.extending.beforehand import require_checkable, require_searchable

        to = asked.to if isinstance(asked.to, int) else None
        if self.budget is not None and self.text is not None and to is not None:
            require_searchable(checkpoint, self.text, self.search_length or to)
        if self.check is not None:
            require_checkable(checkpoint, self.check, to, self.check_lengths or None)

    def searched(self, checkpoint: Path, asked: "Asked", tell: Tell) -> "Searched":
        """The lists that were found."""
        from gnomon.extending.searching.running import search

        return search(
            checkpoint,
            str(self.text),
            to=int(asked.to),  # type: ignore[arg-type]  # `aimed` has seen that it is a number
            budget=int(self.budget or 0),
            seed=self.seed,
            length=self.search_length,
            original=asked.original,
            progress=lambda _read, _all, said: tell(said),
        )

    def with_lists(self, asked: "Asked", found: "Searched") -> "Asked":
        """What is asked for, with these lists."""
        from gnomon.extending.rotary.methods.longrope import Lists

        lists = Lists(tuple(found.short_factor), tuple(found.long_factor), found.attention_factor)
        return replace(asked, method="longrope", lists=lists)

    def checked(self, before: Path, after: Path, tell: Tell) -> "Checked":
        """Both models on the text, and the figure where one was asked for."""
        from gnomon.extending.checking import check, figures
        from gnomon.plots import write_figures

        lengths = self.check_lengths or None
        found = check(before, after, str(self.check), lengths=lengths, progress=lambda _read, _all, said: tell(said))
        if self.figure is not None:
            drawn = figures(found)
            if not drawn:
                raise GnomonError("A check of this model has no losses by place to draw; leave --check-figure out.")
            write_figures(drawn, self.figure)
            tell(f"wrote {self.figure}")
        return found


def _require_drawable(path: Path) -> None:
    from gnomon.plots.files import try_writing

    if path.suffix.lower() not in DRAWN:
        raise GnomonError(f"A figure is drawn into a {', '.join(DRAWN)} file, got {path}.")
    try_writing(path)
