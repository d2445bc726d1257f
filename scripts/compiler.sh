#!/usr/bin/env bash
# Makes sure that there is a C++ compiler for the optional compiled rotary kernel, or says that there is none.
set -euo pipefail

for candidate in "${CXX:-c++}" g++ clang++; do
    if command -v "$candidate" >/dev/null; then
        exit 0
    fi
done

go_on() {
    echo "compiler: no C++ compiler, and $1; rotary encodings will run in plain torch" >&2
    exit 0
}

command -v apt-get >/dev/null || go_on "apt-get is not here"
[ "$(id -u)" -eq 0 ] || go_on "apt-get needs root"
echo "compiler: installing g++ with apt-get" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq || go_on "apt-get update failed"
apt-get install -y -qq --no-install-recommends g++ >&2 || go_on "apt-get could not install it"
