#!/bin/sh
# An installed copy works wherever it is put: PETSc programs load it, and C programs find it by pkg-config and by CMake.
#
#   installed.sh BUILD SOURCE VERSION CLIENT PROGRAM
#
# BUILD, SOURCE: the build tree and the sources, which no installed file may name. CLIENT: client.c. PROGRAM: a PETSc
# program that knows nothing of us, built solve_poisson. MPICC, PETSC_LIB, PETSC_MODULE: of the environment.
set -eu
build=$1 source=$2 version=$3 client=$4 program=$5
short=${version%.*}
for tool in cmake pkg-config readelf "$MPICC"; do
  command -v "$tool" > /dev/null || { echo "$tool is not installed"; exit 25; }
done
[ -f "$source/CMakeLists.txt" ] || { echo "The sources are not here: nothing can be installed"; exit 25; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }

# DESTDIR and --prefix put the same files, and the tree may be moved afterwards.
cmake --install "$build" --prefix "$work/first" > "$work/log" || { cat "$work/log"; exit 1; }
DESTDIR=$work/destination cmake --install "$build" --prefix /any/where > "$work/log" || { cat "$work/log"; exit 1; }
diff -r "$work/first" "$work/destination/any/where" || fail "DESTDIR and --prefix install different files"
mv "$work/first" "$work/moved"
prefix=$work/moved
library=$(find "$prefix" -name libsparsegpu.so)
folder=$(dirname "$library")
for file in "$folder/libsparsegpu.so.$short" "$folder/libsparsegpu.so.$version" "$folder/pkgconfig/sparsegpu.pc" \
  "$folder/cmake/sparsegpu/sparsegpuConfig.cmake" "$prefix/include/sparsegpu.h" "$prefix/include/sparsegpuversion.h"; do
  [ -f "$file" ] || fail "$file is not installed"
done
[ -n "$(find "$prefix" -name README.md)" ] || fail "README.md is not installed"
if command -v python3 > /dev/null; then
  python3 "$source/tools/check_links.py" "$prefix" || fail "Installed pages have dead links"
  [ -n "$(find "$prefix" -name MATSPARSEGPU.3)" ] || fail "No manual page MATSPARSEGPU is installed"
fi
dynamic=$(readelf -d "$library")
case $dynamic in *"soname: [libsparsegpu.so.$short]"*) ;; *) fail "No soname libsparsegpu.so.$short: $dynamic" ;; esac
for tree in "$build" "$source"; do
  case $dynamic in *"$tree"*) fail "The library's run path names $tree: $dynamic" ;; esac
  if grep -rIlF "$tree" "$prefix"; then fail "These files name $tree"; fi
done

cd "$work" # nothing comes from the current folder
for name in libsparsegpu.so libsparsegpu.so.$short; do
  got=$("$program" -m 20 -n 20 -dll_append "$folder/$name" -mat_type sparsegpu)
  case $got in seqaijsparsegpu:*) ;; *) fail "-dll_append $folder/$name: $got" ;; esac
done

export PKG_CONFIG_PATH="$folder/pkgconfig:$PETSC_LIB/pkgconfig:${PKG_CONFIG_PATH:-}"
[ "$(pkg-config --modversion sparsegpu)" = "$version" ] || fail "sparsegpu.pc has not version $version"
[ "$(pkg-config --variable=plugin sparsegpu)" -ef "$library" ] || fail "plugin of sparsegpu.pc is not $library"
# shellcheck disable=SC2046 # pkg-config's answer is several words
"$MPICC" "$client" -o by_pkg_config $(pkg-config --cflags --libs sparsegpu) -Wl,-rpath,"$folder" -Wl,-rpath,"$PETSC_LIB"
[ "$(./by_pkg_config)" = "sparsegpu $version: ell" ] || fail "The program built by pkg-config: $(./by_pkg_config)"

mkdir project && cp "$client" project/client.c
cat > project/CMakeLists.txt << END
cmake_minimum_required(VERSION 3.20)
project(client C)
find_package(sparsegpu $short REQUIRED)
find_package(MPI REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PETSC REQUIRED IMPORTED_TARGET $PETSC_MODULE)
add_executable(by_cmake client.c)
target_link_libraries(by_cmake PRIVATE sparsegpu::sparsegpu PkgConfig::PETSC MPI::MPI_C)
target_link_options(by_cmake PRIVATE -Wl,-rpath,$PETSC_LIB)
END
{ cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$prefix" && cmake --build project/build; } > log 2>&1 ||
  { cat log; exit 1; }
[ "$(project/build/by_cmake)" = "sparsegpu $version: ell" ] || fail "The program built by CMake: $(project/build/by_cmake)"
echo "Installed $version: loaded, linked by pkg-config and by CMake"
