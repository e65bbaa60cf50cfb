#!/bin/sh
# Says in one line what is missing before a build fails in a thousand.
fail() { printf 'dyno: %s\n' "$1" >&2; exit 2; }

python=${PYTHON:-python3}
command -v "$python" >/dev/null 2>&1 ||
  fail "Python is missing: install Python 3.11 or newer, or set PYTHON=/path/to/python3."
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "$("$python" --version 2>&1) is too old: Dyno needs 3.11 or newer; set PYTHON=/path/to/it."
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
  fail "Python has no venv module: install it (Debian: apt install python3-venv)."
command -v cc >/dev/null 2>&1 ||
  fail "A C compiler is missing: install one (Debian: apt install gcc)."
command -v cargo >/dev/null 2>&1 ||
  fail "Rust is missing: install the stable toolchain with rustup (https://rustup.rs)."
version=$(rustc --version 2>/dev/null | cut -d' ' -f2)
[ -n "$version" ] || fail "rustc does not run: repair the Rust toolchain (rustup update stable)."
minor=$(printf '%s' "$version" | cut -d. -f2)
[ "${version%%.*}" -gt 1 ] || [ "$minor" -ge 88 ] ||
  fail "Rust $version is too old: Dyno needs 1.88 or newer (rustup update stable)."
