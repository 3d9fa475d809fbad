#!/bin/sh
# Builds the Python sdist, installs it by pip into a virtual environment that sees the system's petsc4py, and tests it.
#
#   packaging/build_python.sh [OUT]        (default: build-python; the sdist is left there, the environment in OUT/venv)
#
# PYTHON: of petsc4py (default: /usr/bin/python3); it needs venv, setuptools and wheel. CMAKE_ARGS: more words for CMake.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$here/build-python}"
out=$(cd "${1:-$here/build-python}" && pwd)
python=${PYTHON:-/usr/bin/python3}

rm -rf "$out"/*.tar.gz "$out/venv"
(cd "$here/packaging/python" && "$python" setup.py -q egg_info --egg-base "$out" sdist -d "$out")
"$python" -m venv --system-site-packages "$out/venv"
"$out/venv/bin/pip" install --no-build-isolation --no-index --no-cache-dir "$out"/sparsegpu-*.tar.gz
cd "$out" # no file of the checkout is in the way
env -u SPARSEGPU_LIBRARY -u SPARSEGPU_PYTHON "$out/venv/bin/python" "$here/tests/plugin/python_module.py" \
  "$(sed -n 's/^project(sparsegpu VERSION \([0-9.]*\).*/\1/p' "$here/CMakeLists.txt")"
ls -l "$out"/*.tar.gz
