#!/bin/sh
# What a newcomer waits for: from a Debian 12 with nothing in it to the first solve with a matrix of one's own. Makes
# that Debian, follows the README in it as it is committed, without CUDA, and tells the seconds of each step.
#
#   tools/try_bare_debian.sh MATRIX [FOLDER]        (as root; needs debootstrap; FOLDER, default /tmp/bare-debian, is emptied)
#
# MATRIX: MatrixMarket or PETSc binary, plain, .gz or .xz. MIRROR: of Debian.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
matrix=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
bare=${2:-/tmp/bare-debian}
case $bare in /?*) ;; *) echo "$bare must be an absolute path"; exit 1 ;; esac
[ ! -e "$bare" ] || [ -d "$bare/root/sparsegpu" ] || { echo "$bare is not of this script: remove it"; exit 1; }
inside() { chroot "$bare" sh -c "export HOME=/root DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; $1"; }
say() { echo "== $1: $(($(date +%s) - start)) s"; }

rm -rf --one-file-system "$bare"
debootstrap --variant=minbase bookworm "$bare" "${MIRROR:-http://deb.debian.org/debian}" > /dev/null
mount --bind /proc "$bare/proc"
trap 'umount "$bare/proc"' EXIT
mkdir -p "$bare/dev/shm"
cp /etc/resolv.conf "$bare/etc/" 2> /dev/null || true
cp "$matrix" "$bare/root/"
git clone -q "$here" "$bare/root/sparsegpu"
start=$(date +%s)
inside 'apt-get update -qq && apt-get install -y -qq make git > /dev/null 2>&1'
say "make and git"
inside 'cd /root/sparsegpu && sh tools/install_dependencies.sh > /root/dependencies.log 2>&1' || { tail "$bare/root/dependencies.log"; exit 1; }
say "what make demo installs"
inside 'cd /root/sparsegpu && make > /root/make.log 2>&1' || { tail "$bare/root/make.log"; exit 1; }
say "built on $(nproc) cores"
inside "cd /root/sparsegpu && build/examples/solve -f '../$(basename "$matrix")' -solvers cg,sparsegpucg,sparsegpugmres -pcs jacobi,sparsegpuamg"
say "solved"
