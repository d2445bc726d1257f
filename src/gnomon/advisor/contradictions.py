"""What a description cannot say: values that do not exist, and two that exclude each other. Each gives its reason."""

from collections.abc import Iterator
from itertools import pairwise

from gnomon.advisor.description import Checkpoint, Description
from gnomon.advisor.sizes import DTYPES, ModelSizes
from gnomon.advisor.task import Need, Task
from gnomon.errors import GnomonError

LARGEST = 2**40  #: of any length, number of examples or tokens
WIDEST = 2**20  #: of any size of a model
NARROWEST = 8  #: head, in columns, that has pairs for each of three axes
NEEDED = (
    "Say what the advice is for: --task, or one of --trained, --target, --lengths, --p95, --checkpoint and --family; "
    "the more is said, the less is assumed."
)


def require_possible(description: Description) -> None:
    """Raise GnomonError with the first reason why a description cannot be answered."""
    for reason in _reasons(description):
        raise GnomonError(reason)


def _reasons(description: Description) -> Iterator[str]:
    yield from _kinds(description)
    if not _says_anything(description):
        yield NEEDED
    yield from _numbers(description)
    yield from _percentiles(description)
    yield from _lengths(description)
    yield from _task(description)
    yield from _sizes(description)
    yield from _setting(description)
    if description.setting.checkpoint is not None:
        yield from _checkpoint(description, description.setting.checkpoint)


def _says_anything(description: Description) -> bool:
    lengths = description.lengths
    given = (description.task, description.need, description.setting.checkpoint, description.setting.device)
    return any(it is not None for it in (*given, lengths.trained, lengths.target)) or bool(
        lengths.counts or lengths.percentiles or lengths.unlimited
    )


def _kinds(description: Description) -> Iterator[str]:
    """Arguments of another type than their own, which no comparison below would survive."""
    lengths, setting = description.lengths, description.setting
    flags = {"causal": description.causal, "fine_tune": setting.fine_tune}
    for name, flag in {**flags, "unlimited": lengths.unlimited, "cut": lengths.cut}.items():
        if type(flag) is not bool and (flag is not None or name not in flags):
            yield f"The argument {name} is True or False, got {flag!r}."
    if not isinstance(description.sizes, ModelSizes):
        yield f"The sizes are a gnomon.advisor.ModelSizes, got {description.sizes!r}."


def _numbers(description: Description) -> Iterator[str]:
    """Whole numbers from 1 up, and none that no machine holds."""
    lengths, setting = description.lengths, description.setting
    named = {
        "trained length": lengths.trained,
        "target length": lengths.target,
        "number of examples": setting.examples,
        "number of tokens": setting.tokens,
    }
    named |= {f"percentile {percent}": value for percent, value in lengths.percentiles.items()}
    for name, value in named.items():
        if value is not None and (type(value) is not int or not 1 <= value <= LARGEST):
            yield f"The {name} must be a whole number from 1 to 2^40, got {value!r}."
    for name, size in description.sizes.known().items():
        if type(size) is not int or not 1 <= size <= WIDEST:
            yield f"The {name} must be a whole number from 1 to 2^20, got {size!r}."
    if description.sizes.dtype not in DTYPES:
        yield f"The dtype is one of {', '.join(DTYPES)}, got {description.sizes.dtype!r}."


def _percentiles(description: Description) -> Iterator[str]:
    lengths = description.lengths
    if lengths.counts and lengths.percentiles:
        yield "Lengths are given as one number for each example, or as percentiles, but not as both."
    if lengths.counts and max(lengths.counts) == 0:
        yield "Every length is 0, so there is nothing to give positions to."
    for percent in lengths.percentiles:
        if type(percent) is not int or not 0 < percent <= 100:
            yield f"A percentile is a whole number from 1 to 100 (the longest input), got {percent!r}."
    rising = sorted(lengths.percentiles.items())
    for (low, short), (high, long) in pairwise(rising):
        if long < short:
            name = "the longest input" if high == 100 else f"percentile {high}"
            yield f"Percentiles must not fall, but percentile {low} is {short} tokens and {name} is {long}."


def _lengths(description: Description) -> Iterator[str]:
    lengths = description.lengths
    trained, target, longest = lengths.trained, lengths.target, lengths.longest
    if trained is not None and target is not None and target < trained:
        yield (
            f"The target of {target} tokens is shorter than the trained length of {trained}: a model serves all "
            f"that it "
            f"was trained on; leave --target out, or give --trained {target}."
        )
    if lengths.unlimited and target is not None:
        yield f"--unlimited says that inputs have no longest length, and --target {target} names one; give one of them."
    if lengths.unlimited and description.need is Need.ABSOLUTE:
        yield (
            "Absolute positions decide, and inputs have no longest length: no table or training covers positions "
            "without end; give a --target, or say --relative."
        )
    if not lengths.cut and longest is None:
        yield "--no-cut needs the longest input: give --lengths, or --max."
    if not lengths.cut and longest is not None and target is not None and longest > target:
        yield f"--no-cut says that no input may be cut, but the longest has {longest} tokens and --target is {target}."


def _task(description: Description) -> Iterator[str]:
    task = description.task
    if description.causal and task in (Task.IMAGES, Task.VIDEO):
        yield (
            f"A model for {task} sees the whole grid, and --causal says that it looks back only; for images inside a "
            f"text use --task {Task.VISION_LANGUAGE}."
        )
    if description.causal is False and task is Task.VISION_LANGUAGE:
        yield f"A {task} model writes text from left to right, and --no-causal says that it sees both sides."
    if task is not None and task.axes > 1:
        sizes = description.sizes
        width = sizes.head_dim or (sizes.dim // sizes.num_heads if sizes.dim and sizes.num_heads else NARROWEST)
        if width < NARROWEST:
            yield (
                f"A head of {width} columns is too narrow for {task.axes} axes of {task}; give one of "
                f"{NARROWEST} or more."
            )


def _sizes(description: Description) -> Iterator[str]:
    sizes = description.sizes
    if sizes.head_dim is not None and sizes.head_dim % 2:
        fitting = "2" if sizes.head_dim == 1 else f"{sizes.head_dim - 1} or {sizes.head_dim + 1}"
        yield f"head_dim {sizes.head_dim} is odd: rotations and sinusoids work on pairs of columns; use {fitting}."
    if sizes.dim is not None and sizes.num_heads is not None and sizes.head_dim is None:
        if sizes.dim % sizes.num_heads:
            yield f"{sizes.num_heads} heads do not divide a width of {sizes.dim}; give --head-dim, or other sizes."
        elif sizes.dim // sizes.num_heads % 2:
            yield (
                f"{sizes.num_heads} heads of a width of {sizes.dim} are {sizes.dim // sizes.num_heads} wide, "
                f"which is odd."
            )
    if sizes.dim is not None and sizes.dim % 2:
        yield f"A width of {sizes.dim} is odd: sinusoids take columns in pairs; use {sizes.dim + 1}."
    if sizes.key_heads is not None:
        if sizes.num_heads is None:
            yield "--key-heads needs --num-heads."
        elif sizes.num_heads % sizes.key_heads:
            yield f"{sizes.key_heads} key heads do not divide {sizes.num_heads} heads."


def _setting(description: Description) -> Iterator[str]:
    setting = description.setting
    if setting.examples is not None and setting.tokens is not None:
        yield "The size of the data is a number of examples or of tokens, not both."
    if setting.checkpoint is None and setting.fine_tune is not None:
        yield "--fine-tune and --no-fine-tune are about a checkpoint; give --checkpoint or --family, or leave them out."


def _checkpoint(description: Description, checkpoint: Checkpoint) -> Iterator[str]:
    trained, target = description.lengths.trained, description.lengths.target
    own = checkpoint.trained
    if own is not None and not 1 <= own <= LARGEST:
        yield f"{checkpoint.target} states a trained length of {own:.6g}, and one is from 1 to 2^40."
    if own is not None and trained is not None and trained > own:
        yield f"--trained {trained} is more than the {own} positions that {checkpoint.target} states."
    if own is not None and trained is None and target is not None and target < own:
        yield f"--target {target} is shorter than the {own} positions that {checkpoint.target} has already."
    if checkpoint.causal is not None and description.causal is not None and checkpoint.causal is not description.causal:
        seen = "looks back only" if checkpoint.causal else "sees both sides"
        yield f"{checkpoint.target} {seen}, and {'--causal' if description.causal else '--no-causal'} says otherwise."
    stated = checkpoint.sizes.known()
    for name, value in stated.items():
        if not 1 <= value <= WIDEST:
            yield f"{checkpoint.target} states {name} {value:.6g}, and a size is from 1 to 2^20."
    heads, shared = stated.get("num_heads"), stated.get("key_heads")
    if heads is not None and shared is not None and heads % shared:
        yield f"{checkpoint.target} states {shared} key heads, which do not divide its {heads} heads."
    for name, value in description.sizes.known().items():
        if name in stated and stated[name] != value:
            yield f"{checkpoint.target} has {name} {stated[name]}, and {value} was given; leave it out."
