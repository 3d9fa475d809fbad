#!/usr/bin/env bash
# Builds the plug-in against several configurations of PETSc, without CUDA, and runs a smoke set of tests with each; by
# hand, on a machine with cores to spare.
#
#   tools/check_versions.sh [-o FOLDER] [-s SOURCE] [-j JOBS] [-r REGEX] [CONFIGURATION ...]
#
# CONFIGURATION, by default the first three:
#   debian       the PETSc that pkg-config finds
#   double       the newest PETSc of the Python index, which is built in FOLDER
#   single       the same with --with-precision=single
#   complex      the same with --with-scalar-type=complex
#   DIR:ARCH     PETSC_DIR and PETSC_ARCH of another; ARCH is empty for an installed one
# FOLDER         where all is built, default build-versions: what is there already is kept
# SOURCE         a tarball of PETSc instead of the one of the Python index
# JOBS           jobs of make, default the number of cores
# REGEX          other tests than the smoke set, for ctest -R; all programs are built then
#
# Ends with a line for each configuration, and with status 1 if a build or a test failed.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
folder=$here/build-versions source="" jobs=$(nproc) regex=""
while getopts o:s:j:r: option; do
  case $option in
  o) mkdir -p "$OPTARG" && folder=$(cd "$OPTARG" && pwd) ;;
  s) source=$(realpath "$OPTARG") ;;
  j) jobs=$OPTARG ;;
  r) regex=$OPTARG ;;
  *) sed -n '2,20s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- debian double single
mkdir -p "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# The smoke set: less than two minutes of a core. A program, and which of its tests.
smoke_programs="products solves gmres cg bcgs ilu lu amg amg_hard conformance type_by_option"
smoke_tests=(products_{sparse_sparse,sparse_dense,parts,np3} solves_{krylov,factor,multigrid,np3}
  conformance_{auto,csr,sell,bsr}_kokkos type_{mat_type,prefix_mat_type,np2} {gmres,cg,bcgs}_{same,ends,hard,reproducible,np2}
  ilu_{same,pivots} lu_{same,refactor,pivoting,face,face_np2} amg_{poisson,elasticity,np2} amg_hard_{singular,rows} format_'[a-z]+')
smoke="^($(IFS='|' && echo "${smoke_tests[*]}"))$" # CTest's expressions may have ten groups at most

# petsc_source: the sources in FOLDER, its path in $petsc
petsc_source() {
  if [ -z "$source" ]; then
    [ -n "$(find "$folder" -maxdepth 1 -name 'petsc-*.tar.gz')" ] ||
      python3 -m pip download --quiet --no-deps --no-binary petsc --dest "$folder" petsc || return 1
    source=$(find "$folder" -maxdepth 1 -name 'petsc-*.tar.gz' | sort -V | tail -1)
  fi
  petsc=$folder/$(basename "$source" .tar.gz)
  [ -d "$petsc" ] || tar -C "$folder" -xzf "$source"
}

# build_petsc ARCH OPTION ...: in the sources' folder. PETSc's own limit on the load of the machine would leave one job.
build_petsc() {
  local arch=$1
  shift
  [ ! -e "$petsc/$arch/built" ] || return 0
  echo "$arch: building $(basename "$petsc")"
  (
    cd "$petsc"
    ./configure PETSC_ARCH="$arch" --with-cc=mpicc --with-cxx=mpicxx --with-fc=0 --with-cuda=0 --with-debugging=0 \
      --with-shared-libraries=1 --with-x=0 --with-hwloc=0 COPTFLAGS=-O1 CXXOPTFLAGS=-O1 "$@" &&
      make PETSC_DIR="$petsc" PETSC_ARCH="$arch" MAKE_NP="$jobs" MAKE_LOAD=999 all
  ) > "$folder/petsc-$arch.log" 2>&1 && touch "$petsc/$arch/built"
}

# check NAME: builds the plug-in against PETSC_DIR and PETSC_ARCH of the environment, and runs the tests.
check() {
  local build=$folder/$1 log=$folder/$1.log targets=all
  cmake -S "$here" -B "$build" -DSPARSEGPU_CUDA=OFF -DSPARSEGPU_BENCH=OFF -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_CXX_FLAGS_RELEASE=-O1 > "$log" 2>&1 ||
    { verdict="cmake failed: $log"; return 1; }
  version=$(sed -n 's/^PETSC_VERSION:INTERNAL=//p' "$build/CMakeCache.txt")
  # shellcheck disable=SC2086
  [ -n "$regex" ] || targets="sparsegpu $smoke_programs $(sed -nE 's/^FORMAT\(([a-z]+)\)$/format_\1/p' \
    "$here/src/mat/formats/formats.def")"
  # shellcheck disable=SC2086
  cmake --build "$build" -j "$jobs" --target $targets >> "$log" 2>&1 || { verdict="build failed: $log"; return 1; }
  warnings=$(grep -c 'warning:' "$log" || true)
  ctest --test-dir "$build" --no-tests=error --output-on-failure -j "$(((jobs + 1) / 2))" -R "${regex:-$smoke}" \
    > "$folder/$1-tests.log" 2>&1 && verdict=passed || verdict="tests failed: $folder/$1-tests.log"
  verdict="$(grep -E 'tests passed' "$folder/$1-tests.log"), $warnings warnings; $verdict"
  [ "${verdict##*; }" = passed ]
}

status=0 table=""
for configuration in "$@"; do
  version="" verdict="PETSc could not be built: $folder/petsc-$configuration.log"
  unset PETSC_DIR PETSC_ARCH
  case $configuration in
  debian) name=debian ;;
  double | single) name=$configuration precision=$configuration kind=real ;;
  complex) name=complex precision=double kind=complex ;;
  *:*) name=$(basename "${configuration%:*}")-${configuration##*:} PETSC_DIR=${configuration%:*}
    export PETSC_DIR PETSC_ARCH=${configuration##*:} ;;
  *) echo "$configuration: debian, double, single, complex or DIR:ARCH" >&2; exit 2 ;;
  esac
  case $configuration in double | single | complex)
    if petsc_source && build_petsc "$name" --with-precision="$precision" --with-scalar-type="$kind"; then
      export PETSC_DIR=$petsc PETSC_ARCH=$name
    else
      status=1 table+="$name: $verdict"$'\n'
      continue
    fi ;;
  esac
  echo "$name: building and testing"
  check "$name" || status=1
  table+="$name: PETSc ${version:-?}, $verdict"$'\n'
done
printf '%s' "$table"
exit $status
