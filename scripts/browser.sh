#!/usr/bin/env bash
# Makes sure that `chromium` is on the PATH: the tests open the HTML report in it.
set -euo pipefail

if command -v chromium >/dev/null; then
    exit 0
fi

give_up() {
    echo "The browser tests need Chromium, and $1; install it so that 'chromium' is on the PATH." >&2
    exit 1
}

command -v apt-get >/dev/null || give_up "apt-get is not here"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || give_up "apt-get needs root or sudo"
    as_root=(sudo)
fi
echo "browser: installing chromium with apt-get" >&2
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq || give_up "apt-get update failed"
"${as_root[@]}" apt-get install -y -qq --no-install-recommends chromium >&2 || give_up "apt-get could not install it"
