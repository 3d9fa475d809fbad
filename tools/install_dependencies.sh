#!/bin/sh
# Installs what is needed and this machine lacks, through apt-get; where there is no apt-get, or no right to use it, says
# plainly what is missing.
#
#   tools/install_dependencies.sh [library]    all that the build, the tests and the demo need, or what the library needs
set -eu

missing=""
need() { # command or test, package
  if ! sh -c "$1" > /dev/null 2>&1; then missing="$missing $2"; fi
}
need 'command -v g++' g++
need 'command -v make' make
need 'command -v cmake' cmake
need 'command -v pkg-config' pkg-config
need 'command -v mpicc && command -v mpiexec' openmpi-bin
need 'test -n "${PETSC_DIR:-}" || pkg-config --exists PETSc || pkg-config --exists petsc' petsc-dev
need 'find /usr/include /usr/local/include ${Kokkos_ROOT:-} -name Kokkos_Core.hpp | grep -q .' KOKKOS
need 'find /usr/include /usr/local/include -name metis.h | grep -q .' libmetis-dev
need 'find /usr/include /usr/local/include -name scotch.h | grep -q .' libscotch-dev
need 'find /usr/include /usr/local/include -name amd.h | grep -q .' libsuitesparse-dev
if [ "${1:-}" != library ]; then
  need 'pkg-config --exists zlib' zlib1g-dev
  need 'pkg-config --exists liblzma' liblzma-dev
  need 'command -v valgrind' valgrind
  need '/usr/bin/python3 -c "import matplotlib"' python3-matplotlib
  need '/usr/bin/python3 -c "import petsc4py"' python3-petsc4py
  need 'pkg-config --exists slepc || pkg-config --exists SLEPc' slepc-dev
  need 'ls -d /usr/share/petsc/*/share/petsc/datafiles/matrices' EXAMPLES
fi

[ -n "$missing" ] || exit 0
if ! command -v apt-get > /dev/null 2>&1; then
  echo "Missing, and no apt-get here to install it:$missing (KOKKOS: Kokkos; EXAMPLES: PETSc's examples and data files)" >&2
  exit 1
fi
run=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo > /dev/null 2>&1 || { echo "Missing:$missing; run as root or install sudo" >&2; exit 1; }
  run=sudo
fi
$run apt-get update -qq
packages=""
for package in $missing; do
  case $package in
  KOKKOS) if apt-cache show libkokkos-dev > /dev/null 2>&1; then package=libkokkos-dev; else \
    package=libtrilinos-kokkos-dev; fi ;;
  EXAMPLES) package=$(apt-cache search --names-only '^libpetsc[0-9.]+-dev-examples$' | awk '{ print $1 }' | tail -1) ;;
  esac
  packages="$packages $package"
done
echo "Installing$packages"
DEBIAN_FRONTEND=noninteractive $run apt-get install -y -qq --no-install-recommends $packages > /dev/null
