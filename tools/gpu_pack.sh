#!/bin/sh
# Packs everything that the GPU check needs into one file, for a machine with a GPU and without network.
#
#   PETSC_DIR=... PETSC_ARCH=... tools/gpu_pack.sh [FILE]        (FILE: default .pack/sparsegpu-gpu.tar.xz)
#
# Builds against that CUDA PETSc under the fixed prefix $PREFIX (default /tmp/sparsegpu-gpu), so that run paths and
# ctest's files stay right where tools/gpu_check.sh unpacks it. Adds the shared libraries that ldd names, but for the C
# and C++ runtimes and CUDA's own, which the GPU machine has; OpenMPI's plug-ins go along. So do what the tests read,
# which CMake copies to the build tree, and gpu_check.sh: the GPU machine needs no checkout. CMAKE_OPTIONS: more for cmake.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
prefix=${PREFIX:-/tmp/sparsegpu-gpu}
out=${1:-$here/.pack/sparsegpu-gpu.tar.xz}
: "${PETSC_DIR:?name the CUDA PETSc: PETSC_DIR and PETSC_ARCH}"
jobs=$(nproc)
case $prefix in /*) ;; *) echo "PREFIX=$prefix must be an absolute path"; exit 1 ;; esac

mkdir -p "$prefix/matrices" "$(dirname "$out")"
# Small real matrices only: the archive must stay easy to carry. Before cmake, which makes a test of each.
if [ -n "${SPARSEGPU_MATRICES:-}" ] && [ -d "$SPARSEGPU_MATRICES" ]; then
  find "$SPARSEGPU_MATRICES" -type f -size -"${MATRIX_KB:-100}"k -exec cp {} "$prefix/matrices/" \;
fi
cp "$here/tools/gpu_check.sh" "$prefix/"
# shellcheck disable=SC2086 # CMAKE_OPTIONS are several words
cmake -S "$here" -B "$prefix/build" -DCMAKE_BUILD_TYPE=Release -DSPARSEGPU_CUDA=ON \
  -DSPARSEGPU_CUDA_ARCHITECTURES="${ARCHITECTURES:-90}" \
  -DSPARSEGPU_MATRICES="$prefix/matrices" ${CMAKE_OPTIONS:-} > "$prefix/configure.log"
cmake --build "$prefix/build" -j "$jobs" > "$prefix/build.log" 2>&1 || { tail -30 "$prefix/build.log"; exit 1; }

rm -rf "$prefix/lib" "$prefix/petsc" "$prefix/link" && mkdir -p "$prefix/lib" "$prefix/link"
find "$prefix/build" -type f \( -name '*.so' -o -perm -u+x \) ! -path '*/CMakeFiles/*' > "$prefix/programs"
xargs ldd < "$prefix/programs" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
  grep -vE '/(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|libutil|libresolv|libcuda|libcudart|libcu[A-Za-z]+|libnv[A-Za-z]+)\.so' |
  grep -v "^$prefix/" | while read -r library; do cp -L "$library" "$prefix/lib/"; done
for library in "$prefix"/lib/*; do strip --strip-unneeded "$library" 2>/dev/null || true; done

# OpenMPI finds its plug-ins and its launcher's helper through OPAL_PREFIX.
if mpiexec=$(command -v mpiexec); then
  plugins=$(ls -d /usr/lib/*/openmpi/lib/openmpi3 2>/dev/null | head -1)
  mkdir -p "$prefix/mpi/bin" "$prefix/mpi/share" "$prefix/mpi/plugins"
  cp -L "$mpiexec" "$prefix/mpi/bin/mpiexec"
  cp -L "$(command -v orted)" "$prefix/mpi/bin/orted"
  [ -z "$plugins" ] || cp -L "$plugins"/*.so "$prefix/mpi/plugins/"
  cp -rL /usr/share/openmpi "$prefix/mpi/share/" 2>/dev/null || true
  ls "$prefix"/mpi/plugins/*.so "$prefix"/mpi/bin/* | xargs ldd 2>/dev/null |
    awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|libutil|libresolv|libcu[A-Za-z]+)\.so' |
      while read -r library; do
    [ -e "$prefix/lib/$(basename "$library")" ] || cp -L "$library" "$prefix/lib/"
  done
fi

# Programs made of the plug-in's objects would each repeat them: they go once, and gpu_check.sh links.
(
  cd "$prefix/build"
  # not those of sources that are gone
  grep -o 'CMakeFiles/sparsegpu_objects.dir/[^ "]*\.o' compile_commands.json | sort -u |
    xargs ar qcS "$prefix/link/libinside.a"
  ranlib "$prefix/link/libinside.a"
  archives=$(find . -name 'lib*.a' | tr '\n' ' ') # what benchmarks share with the drivers
  echo "$archives" | tr ' ' '\n' | grep . | xargs -r cp --parents -t "$prefix/link"
  find tests/bin bench -maxdepth 1 -type f -perm -u+x -size +10M | sort | while read -r program; do
    objects=$(find "${program%%/*}" -path "*/CMakeFiles/$(basename "$program").dir/*.o" -o \
      -path "*/CMakeFiles/bench_$(basename "$program").dir/*.o" | tr '\n' ' ')
    echo "$objects" | tr ' ' '\n' | grep . | xargs cp --parents -t "$prefix/link"
    echo "$program $objects $archives $(ldd "$program" | awk '$2 == "=>" { print "-l:" $1 }' |
      grep -vE ':(libc|libm|libdl|libpthread|librt|libstdc[+][+]|libgcc_s)[.]so' | tr '\n' ' ')"
    echo "build/$program" >> "$prefix/link/left_out"
  done > "$prefix/link/programs"
)
(cd "$prefix" && find build -name '*.gch' -o -name CMakeFiles -o -name '.ninja*' -o -name build.ninja) >> "$prefix/link/left_out"
sed -i "s|^|${prefix#/}/|" "$prefix/link/left_out"
tar -C / -cf - --exclude-from="$prefix/link/left_out" --exclude='build/*.o' --exclude='build/*.a' --exclude='*.log' \
  --exclude=matrices-* "${prefix#/}" | xz -T0 --lzma2=preset=4,dict=64MiB > "$out"
ls -l "$out"
