"""What a speed depends on: the machine, its state, and how gnomon was installed."""

import time
from pathlib import Path

from gnomon.lab.machine import this_machine

#: Flags of a processor that decide which instructions rotations and products take.
TELLING = ("avx2", "fma", "f16c", "avx512f", "avx512_bf16", "amx_bf16", "asimd", "bf16", "sve")


def environment() -> dict[str, str]:
    """Names and values for a report, torch imported."""
    import torch

    return {
        "date": time.strftime("%Y-%m-%d"),
        **this_machine(),
        "torch build": torch.__version__,
        "flags": ", ".join(flags()) or "unknown",
        "compiled kernel": compiled_kernel(),
    }


def compiled_kernel() -> str:
    """Whether gnomon's own compiled kernel is there, and how it was built, or why it is not."""
    from gnomon.kernels import native

    return f"{'yes' if native.AVAILABLE else 'no'}: {native.reason()}"


def flags() -> list[str]:
    """Those of the telling flags that the processor has; none where the system does not list them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    found = next((line.partition(":")[2].split() for line in lines if line.startswith(("flags", "Features"))), [])
    return [flag for flag in TELLING if flag in found]
