#!/bin/sh
# Builds the Debian source package and its binary packages, without CUDA, for Debian's real PETSc; lintian must find no
# errors, and a program must solve with the unpacked library.
#
#   packaging/build_deb.sh [OUT]        (default: build-deb; the packages are left there)
#
# Needs debhelper, dpkg-dev and lintian. DEB_BUILD_OPTIONS: as dpkg-buildpackage takes it, for example parallel=2.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$here/build-deb}"
out=$(cd "${1:-$here/build-deb}" && pwd)
version=$(sed -n 's/^project(sparsegpu VERSION \([0-9.]*\).*/\1/p' "$here/CMakeLists.txt")
tree=$out/sparsegpu-$version

rm -rf "$tree" "$out/root" && mkdir -p "$tree"
(cd "$here" && git ls-files -z | tar -c --null -T - --exclude=.ci) | tar -x -C "$tree"
tar -C "$out" -cJf "$out/sparsegpu_$version.orig.tar.xz" "sparsegpu-$version"
cp -R "$tree/packaging/debian" "$tree/debian"
(cd "$tree" && dpkg-buildpackage -us -uc)
lintian --fail-on error "$out"/sparsegpu_"$version"-*.changes

for package in "$out"/libsparsegpu*_"$version"-*.deb; do dpkg-deb -x "$package" "$out/root"; done
PKG_CONFIG_PATH=$(dirname "$(find "$out/root" -name sparsegpu.pc)") sh "$tree/debian/tests/poisson" \
  "$out/root/usr/share/doc/libsparsegpu-dev/examples/solve_poisson.c" "$(find "$out/root" -name libsparsegpu.so.0.1)"
rm -rf "$tree"
ls -l "$out"
