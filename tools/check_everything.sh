#!/bin/sh
# All checks that are too long for .ci/run, one after the other; by hand, on a machine with cores to spare and a network.
#
#   tools/check_everything.sh [-m MINUTES] [-o FOLDER] [STEP ...]
#
# MINUTES  of each fuzzer, default 10
# FOLDER   for the logs, default build-everything
# STEP     by default all:
#   versions  tools/check_versions.sh: several configurations of PETSc
#   tidy      tools/clang_tidy.sh --all
#   fuzz      tools/fuzz.sh MINUTES
#   clients   make clients: installs programs of others and runs them
#   deb       packaging/build_deb.sh
#   python    packaging/build_python.sh
#   site      tools/site.sh
#   gpu       tools/gpu_check.sh, with what tools/gpu_pack.sh has made or makes
#
# A step that this machine cannot do is skipped. Ends with a line for each step, passed, failed or skipped and why, and
# with status 1 if one failed.
set -u
cd "$(dirname "$0")/.." || exit 1
minutes=10 out=build-everything
while getopts m:o: option; do
  case $option in
  m) minutes=$OPTARG ;;
  o) out=$OPTARG ;;
  *) sed -n '2,20s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
steps="versions tidy fuzz clients deb python site gpu"
# shellcheck disable=SC2086 # a step a word
[ $# -gt 0 ] || set -- $steps
for name in "$@"; do
  case " $steps " in
  *" $name "*) ;;
  *) echo "check_everything.sh: no step $name; known are $steps" >&2; exit 2 ;;
  esac
done
mkdir -p "$out" || exit 1
failed=0 summary=""

has() { command -v "$1" > /dev/null 2>&1; }
tell() { summary="$summary$1
"; }
run() { # step, command ...
  step=$1 start=$(date +%s)
  shift
  echo "== $step: $out/$step.log"
  if "$@" > "$out/$step.log" 2>&1; then
    end=passed
  else
    end=failed failed=1
    tail -n 20 "$out/$step.log"
  fi
  tell "$step: $end ($(($(date +%s) - start)) s)"
}
needs() { # step, command ...; false and a line of the summary where one is missing
  step=$1
  shift
  for command in "$@"; do
    has "$command" || { tell "$step: skipped, no $command"; return 1; }
  done
}
gpu() {
  [ -f .pack/sparsegpu-gpu.tar.xz ] || tools/gpu_pack.sh || return 1
  OUT="$out/gpu" tools/gpu_check.sh
}

for name in "$@"; do
  case $name in
  versions) needs "$name" cmake && run "$name" tools/check_versions.sh ;;
  tidy) needs "$name" clang-tidy && run "$name" tools/clang_tidy.sh --all ;;
  fuzz) needs "$name" clang++ && run "$name" sh tools/fuzz.sh "$minutes" ;;
  clients) needs "$name" apt-get && run "$name" make clients ;;
  deb) needs "$name" dpkg-buildpackage dh lintian && run "$name" sh packaging/build_deb.sh ;;
  python)
    if /usr/bin/python3 -c 'import petsc4py, venv, setuptools, wheel' > /dev/null 2>&1; then
      run "$name" sh packaging/build_python.sh
    else
      tell "$name: skipped, /usr/bin/python3 lacks petsc4py, venv, setuptools or wheel"
    fi
    ;;
  site) needs "$name" python3 && run "$name" sh tools/site.sh build ;;
  gpu)
    if ! nvidia-smi -L > /dev/null 2>&1; then
      tell "$name: skipped, no GPU"
    elif [ -f .pack/sparsegpu-gpu.tar.xz ] || has nvcc; then
      run "$name" gpu
    else
      tell "$name: skipped, neither .pack/sparsegpu-gpu.tar.xz nor nvcc"
    fi
    ;;
  esac
done
printf '\n%s' "$summary"
exit $failed
