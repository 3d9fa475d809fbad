#!/usr/bin/env bash
# Packs those of PETSc's own tests that use a cuSPARSE matrix, for a machine with a GPU and without network or sources.
#
#   PETSC_DIR=... PETSC_ARCH=... tools/petsc_gpu_pack.sh [FILE]      (FILE: default .pack/petsc-suite.tar.xz)
#
# Unpack both with tar -C / -xJf, then run /tmp/sparsegpu-gpu/petsc-suite/run.sh; its options are at its top.
#
# PETSC_DIR is a source tree with a CUDA build. PETSc's own generator writes a script for each test; those that name
# cusparse are taken, with their programs, reference outputs, data files, PETSc's harness and petscdiff, and
# tests/plugin/petsc_gpu_suite.sh, which runs them. libpetsc and the plug-in are in the archive of tools/gpu_pack.sh,
# which unpacks under the same $PREFIX (default /tmp/sparsegpu-gpu).
#
# A program that names MATAIJCUSPARSE and its kin in its source is built twice: as it is, and with our names.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
prefix=${PREFIX:-/tmp/sparsegpu-gpu}
out=${1:-$here/.pack/petsc-suite.tar.xz}
: "${PETSC_DIR:?name the CUDA PETSc: PETSC_DIR and PETSC_ARCH}" "${PETSC_ARCH:?}"
petsc=$(cd "$PETSC_DIR" && pwd)
suite=$prefix/petsc-suite
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jobs=${JOBS:-$(nproc)}

rm -rf "$suite"
mkdir -p "$suite/petsc/lib/petsc/bin" "$suite/petsc/config" "$suite/petsc/share/petsc" "$(dirname "$out")"
python3 "$petsc/config/gmakegentest.py" --petsc-dir="$petsc" --petsc-arch="$PETSC_ARCH" --testdir="$work/tests" \
  > "$work/generate.log" 2>&1 || { tail "$work/generate.log"; exit 1; }
find "$work/tests" -name 'run*.sh' > "$work/all"
(cd "$work/tests" && grep -rl cusparse --include='run*.sh' . | sed 's|^\./||' | sort) > "$work/scripts"
# Those that use the types by their names in the source.
named='MAT(SEQ|MPI)?AIJCUSPARSE|MATSOLVERCUSPARSE'
# shellcheck disable=SC2015 # none may match
(cd "$petsc/src" && grep -rlE "$named" --include='*.c' --include='*.cxx' --include='*.cu' . | sed 's|^\./||' |
  grep -E '/(tests|tutorials)/' || true) > "$work/named"

script_source() { # path of a test's script -> path of its program's source, below src
  local program
  program=$(dirname "$1")/$(sed -n "s|^executable='../\(.*\)'|\1|p" "$work/tests/$1")
  for suffix in c cxx cu; do
    [ -f "$petsc/src/$program.$suffix" ] && echo "$program.$suffix" && return
  done
  echo "petsc_gpu_pack.sh: no source of $1" >&2
  return 1
}
while read -r source; do # their tests for a GPU, whatever those name
  name=$(basename "$source")
  # shellcheck disable=SC2015 # none may match
  (cd "$work/tests" && grep -ls "^executable='../${name%.*}'" "$(dirname "$source")"/run*.sh |
    xargs -r grep -lE '^args=.*(gpu|cuda)' || true)
done < "$work/named" >> "$work/scripts"
sort -u -o "$work/scripts" "$work/scripts"

# The scripts, with the paths they will find there.
while read -r script; do
  folder=$suite/scripts/$(dirname "$script")
  mkdir -p "$folder"
  sed -e "s|$work/tests|$suite/MODE|g" -e "s|$petsc|$suite/petsc|g" "$work/tests/$script" > "$suite/scripts/$script"
  chmod +x "$suite/scripts/$script"
  # shellcheck disable=SC2013 # words they are
  for file in $(sed -n "s/^runfiles='\(.*\)'/\1/p" "$work/tests/$script"); do
    mkdir -p "$folder/$(dirname "$file")"
    cp -r "$work/tests/$(dirname "$script")/$file" "$folder/$(dirname "$file")/"
  done
  grep -oE "$petsc/src/[^ \"]*\.out" "$work/tests/$script" || true
done < "$work/scripts" | sort -u | while read -r output; do
  mkdir -p "$suite/petsc$(dirname "${output#"$petsc"}")"
  cp "$output" "$suite/petsc${output#"$petsc"}"
done
cp "$petsc/config/petsc_harness.sh" "$suite/petsc/config/"
cp "$petsc/lib/petsc/bin/petscdiff" "$suite/petsc/lib/petsc/bin/"
cp -r "$petsc/share/petsc/datafiles" "$suite/petsc/share/petsc/"
cp "$here/tests/plugin/petsc_gpu_suite.sh" "$suite/run.sh"

# The programs.
conf=$petsc/$PETSC_ARCH/lib/petsc/conf/petscvariables
variable() { sed -n "s/^$1 = //p" "$conf"; }
include="$(variable PETSC_CC_INCLUDES)"
link="-Wl,-rpath,$prefix/lib -Wl,--as-needed $(variable PETSC_WITH_EXTERNAL_LIB)"
objects() { # source -> the further objects it needs, as gmakefile.test says
  # shellcheck disable=SC2016 # make's variable
  sed -n "s|^\$(TESTDIR)/${1%.*}: ||p" "$work/tests/testfiles" | sed 's|\$(TESTDIR)/||g'
}
compile() { # source, program, folder of the source if that is a copy
  local compiler objs=''
  case $1 in
    *.c) compiler="$(variable PCC) $(variable CC_FLAGS)" ;;
    *.cxx) compiler="$(variable CXX_LINKER) $(variable CXX_FLAGS)" ;;
    *.cu) compiler="nvcc $(variable CUDAC_FLAGS)" ;;
  esac
  for object in $(objects "${3:-$1}"); do objs="$objs $petsc/src/${object%.o}.c"; done
  case $1 in *.cu) link=${link//-Wl,/-Xlinker } ;; esac
  mkdir -p "$(dirname "$2")"
  # shellcheck disable=SC2086 # lists of words
  $compiler $include -I"$petsc/src/$(dirname "${3:-$1}")" "$(realpath "$1")" $objs -o "$2" $link > "$2.log" 2>&1 ||
    { echo "petsc_gpu_pack.sh: cannot build $2" >&2; tail -n 20 "$2.log" >&2; return 255; }
  rm "$2.log"
  strip "$2"
}
build() { # source below src: the program as it is, and ours if the source names cusparse's types
  cd "$petsc/src"
  compile "$1" "$suite/programs/${1%.*}" "$1" || return
  grep -qxF "$1" "$work/named" || return 0
  mkdir -p "$work/ours/$(dirname "$1")"
  sed -E -e 's/\bMATSEQAIJCUSPARSE\b/"seqaijsparsegpu"/g' -e 's/\bMATMPIAIJCUSPARSE\b/"mpiaijsparsegpu"/g' \
    -e 's/\bMATAIJCUSPARSE\b/"sparsegpu"/g' -e 's/\bMATSOLVERCUSPARSE\b/"sparsegpu"/g' "$1" > "$work/ours/$1"
  compile "$work/ours/$1" "$suite/programs-ours/${1%.*}" "$1"
}
export -f build compile objects variable
export petsc suite work conf include link
while read -r script; do script_source "$script"; done < "$work/scripts" | sort -u > "$work/sources"
[ -n "${SCRIPTS_ONLY:-}" ] || xargs -P "$jobs" -I{} bash -c 'build {}' < "$work/sources"

tar -C / -cf - "${suite#/}" | xz -T1 -6 > "$out"
echo "$(wc -l < "$work/scripts") of $(wc -l < "$work/all") tests of this build, $(wc -l < "$work/sources") programs"
ls -l "$out"
