"""What a result must say of where it was made, and what of it makes a stored result worth taking."""

import os
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import gnomon

#: A result made with other values of these is made again.
DECISIVE = ("gnomon", "torch", "device")


def versions() -> dict[str, str]:
    """Of what a result depends on, without importing it. A build's own mark, as in 2.9.0+cpu, is left out.

    >>> sorted(versions())
    ['gnomon', 'torch']
    """
    return {"gnomon": gnomon.__version__, "torch": metadata.version("torch").partition("+")[0]}


def this_machine() -> dict[str, str]:
    """Versions and hardware of this process, without importing torch."""
    return {
        **versions(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": cpu_name(),
        "cores": str(usable_cores()),
    }


def environment(device: str | None) -> dict[str, str]:
    """What `this_machine` says, and the device, threads and processes that this process computes with.

    `device` is "cpu", or None for what there is.
    """
    import torch

    kind = found_device() if device is None else device
    gpu = {"gpu": torch.cuda.get_device_name()} if kind == "cuda" else {}
    return {
        **this_machine(),
        "device": kind,
        **gpu,
        "threads": str(torch.get_num_threads()),
        "processes": os.environ.get("WORLD_SIZE", "1"),
    }


def found_device() -> str:
    """The kind of device that accelerate takes when it is free to choose: "cuda", "mps" or "cpu"."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def usable_cores() -> int:
    """How many cores this process may use, which is fewer than the machine has where it is confined."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_name() -> str:
    """The model of the processor, or its architecture where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def differences(environment: Mapping[str, str], today: Mapping[str, str]) -> list[str]:
    """What in an environment differs from today's in a way that decides numbers, as words: "torch 2.8.0".

    >>> differences({"gnomon": "1", "torch": "2.8.0"}, {"gnomon": "1", "torch": "2.9.0"})
    ['torch 2.8.0']
    """
    asked = [name for name in DECISIVE if name in today]
    return [f"{name} {environment.get(name, '?')}" for name in asked if environment.get(name) != today[name]]
