"""From a description to facts: what is not said is worked out or assumed, and every assumption is a sentence."""

from collections.abc import Iterator

from gnomon.advisor.arithmetic.scaling import table_length
from gnomon.advisor.description import Description
from gnomon.advisor.facts import Facts
from gnomon.advisor.task import Task
from gnomon.errors import GnomonError

HEAD_DIM, NUM_HEADS = 64, 8  #: of a small model, as in the first Transformer
TRAINED = {Task.IMAGES: 196, Task.VIDEO: 1568, Task.LANGUAGE_MODEL: 2048, Task.CODE: 2048, Task.LONG_CONTEXT: 8192}
USUAL = 512
TAIL = 2  #: how many times the usual length the longest input is, from where that is worth saying
BOTH = "an encoder and a decoder, and the advice is for the encoder; --causal for a decoder alone"
BEYOND = 8  #: with no longest input, numbers are worked out for so many times the trained length


def facts_from(description: Description) -> tuple[Facts, tuple[str, ...]]:
    """The facts, and the sentences that say what was assumed."""
    assumed: list[str] = []
    causal, said = _causal(description)
    assumed += said
    trained, said = _trained(description)
    assumed += said
    target, said = _target(description, trained)
    assumed += said
    sizes, said = _sizes(description)
    assumed += said
    fine_tune = description.setting.fine_tune
    if description.setting.checkpoint is not None and fine_tune is None and target > trained:
        assumed.append("the checkpoint may be trained further for a while; with --no-fine-tune the answer can change")
    return Facts(description, causal, trained, target, fine_tune is not False, sizes), tuple(assumed)


def _causal(description: Description) -> tuple[bool, list[str]]:
    if description.causal is not None:
        return description.causal, []
    checkpoint = description.setting.checkpoint
    if checkpoint is not None and checkpoint.causal is not None:
        return checkpoint.causal, []
    if checkpoint is not None and checkpoint.both:
        return False, [BOTH]
    task = description.task
    if task is None:
        return True, ["a causal model, as language models are; --no-causal for one that sees both sides"]
    if task.axes > 1:  # nothing else is possible
        return task.causal, []
    if task.causal:
        return True, [f"a causal model, as is usual for {task}; --no-causal for one that sees both sides"]
    if task in (Task.TRANSLATION, Task.SUMMARISATION):
        return False, [BOTH]
    return False, [f"a model that sees both sides, as is usual for {task}; --causal for one that looks back only"]


def _trained(description: Description) -> tuple[int, list[str]]:
    lengths, checkpoint = description.lengths, description.setting.checkpoint
    if lengths.trained is not None:
        return lengths.trained, []
    if checkpoint is not None:
        if checkpoint.trained is None:
            raise GnomonError(f"{checkpoint.target} states no trained length; give it with --trained.")
        return checkpoint.trained, []
    if lengths.target is not None or lengths.longest:
        length = lengths.target or lengths.longest or 1
        said = f"training goes up to the longest length in use, {length}; --trained for a shorter one"
        return length, [f"{said}{_tail(lengths.at(95), length)}"]
    length = TRAINED.get(description.task, USUAL) if description.task else USUAL
    return length, [f"trained at {length} tokens; --trained says otherwise"]


def _tail(usual: int | None, longest: int) -> str:
    """What to say of lengths of which a few are far longer than the others."""
    if usual is None or longest <= TAIL * table_length(usual):
        return ""
    return f", as 95 of 100 inputs have {usual} tokens or fewer: --trained {table_length(usual)} would cut the others"


def _target(description: Description, trained: int) -> tuple[int, list[str]]:
    lengths = description.lengths
    if lengths.target is not None:
        return lengths.target, []
    longest = max(trained, lengths.longest or 0)
    if lengths.unlimited:
        length = max(BEYOND * trained, longest)
        return length, [f"numbers for {length} tokens, though inputs have no longest length"]
    if longest > trained and not lengths.cut:
        return longest, []
    usual = lengths.at(95)
    if longest > trained and usual is not None and usual <= trained:
        said = f"the few inputs beyond {trained} tokens are cut; --no-cut, or --target {longest}, to serve them"
        return trained, [said]
    if longest > trained:
        return longest, [f"the longest input, {longest} tokens, is to be served; --target for another length"]
    return trained, []


def _sizes(description: Description) -> tuple[dict[str, int], list[str]]:
    """Every size, from what was given first, then from the checkpoint, then from each other."""
    checkpoint = description.setting.checkpoint
    sizes = {**(checkpoint.sizes.known() if checkpoint else {}), **description.sizes.known()}
    before = dict(sizes)
    for name, value in _derived(sizes):
        sizes.setdefault(name, value)
    guessed = [f"{name} {sizes[name]}" for name in ("dim", "num_heads", "head_dim") if name not in _follows(before)]
    return sizes, [f"sizes of the model: {', '.join(guessed)}"] if guessed else []


def _derived(sizes: dict[str, int]) -> Iterator[tuple[str, int]]:
    """The sizes that are missing, each when the ones before it are known."""
    if "dim" in sizes and "head_dim" not in sizes and "num_heads" in sizes:
        yield "head_dim", sizes["dim"] // sizes["num_heads"]
    if "head_dim" not in sizes:
        yield "head_dim", HEAD_DIM
    if "num_heads" not in sizes:
        yield "num_heads", max(1, sizes["dim"] // sizes["head_dim"]) if "dim" in sizes else NUM_HEADS
    yield "dim", sizes["num_heads"] * sizes["head_dim"]
    yield "key_heads", sizes["num_heads"]


def _follows(given: dict[str, int]) -> set[str]:
    """The sizes that two of dim, num_heads and head_dim give."""
    three = {"dim", "num_heads", "head_dim"}
    return three if len(three & set(given)) > 1 else three & set(given)
