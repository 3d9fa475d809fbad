# PETSc (by pkg-config), MPI, Kokkos and CUDA, gathered in the interface targets
#   sparsegpu_petsc         what a program that uses PETSc needs
#   sparsegpu_dependencies  what our own sources need

find_package(PkgConfig REQUIRED)
find_package(MPI REQUIRED COMPONENTS C CXX)
if(MPI_C_VERSION VERSION_LESS 3.0) # shared memory, MPI_Ibarrier()
  message(FATAL_ERROR "MPI ${MPI_C_VERSION} is too old: 3.0 or newer is needed")
endif()

# PETSC_DIR and PETSC_ARCH, where set, come before the system's PETSc.
set(SPARSEGPU_PETSC_DIR "$ENV{PETSC_DIR}" CACHE PATH "PETSC_DIR of the PETSc to build against; empty: the system's")
set(SPARSEGPU_PETSC_ARCH "$ENV{PETSC_ARCH}" CACHE STRING "PETSC_ARCH of that PETSc; empty for an installed one")
if(SPARSEGPU_PETSC_DIR)
  set(petsc_prefix "${SPARSEGPU_PETSC_DIR}/${SPARSEGPU_PETSC_ARCH}")
  if(NOT EXISTS "${petsc_prefix}/lib/pkgconfig/PETSc.pc" AND NOT EXISTS "${petsc_prefix}/lib/pkgconfig/petsc.pc")
    message(FATAL_ERROR
      "No PETSc.pc in ${petsc_prefix}/lib/pkgconfig: PETSC_DIR=${SPARSEGPU_PETSC_DIR} PETSC_ARCH=${SPARSEGPU_PETSC_ARCH}")
  endif()
  set(ENV{PKG_CONFIG_PATH} "${petsc_prefix}/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
endif()
pkg_search_module(PETSC REQUIRED IMPORTED_TARGET PETSc petsc)
pkg_get_variable(PETSC_LIBDIR ${PETSC_MODULE_NAME} libdir)
pkg_get_variable(PETSC_INCLUDEDIR ${PETSC_MODULE_NAME} includedir)
if(PETSC_VERSION VERSION_LESS 3.18)
  message(FATAL_ERROR "PETSc ${PETSC_VERSION} is too old: 3.18 or newer is needed")
endif()

function(petsc_has macro variable) # sets `variable` to TRUE if petscconf.h of this PETSc defines `macro`
  set(${variable} FALSE PARENT_SCOPE)
  foreach(folder IN LISTS PETSC_INCLUDE_DIRS PETSC_INCLUDEDIR)
    if(EXISTS "${folder}/petscconf.h")
      file(STRINGS "${folder}/petscconf.h" found REGEX "#define[ ]+${macro}[ ]")
      if(found)
        set(${variable} TRUE PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()
petsc_has(PETSC_HAVE_CUDA SPARSEGPU_PETSC_HAS_CUDA)
petsc_has(PETSC_USE_COMPLEX SPARSEGPU_PETSC_COMPLEX)
petsc_has(PETSC_USE_64BIT_INDICES SPARSEGPU_PETSC_64BIT)

add_library(sparsegpu_petsc INTERFACE)
target_link_libraries(sparsegpu_petsc INTERFACE PkgConfig::PETSC MPI::MPI_C)
if(NOT CMAKE_SKIP_RPATH) # packagers set it where PETSc lies in a folder of the system
  target_link_options(sparsegpu_petsc INTERFACE "LINKER:-rpath,${PETSC_LIBDIR}")
endif()

find_package(Kokkos REQUIRED)
add_library(sparsegpu_kokkos INTERFACE)
if(TARGET Kokkos::kokkos)
  target_link_libraries(sparsegpu_kokkos INTERFACE Kokkos::kokkos)
endif()
# The package of Trilinos names its libraries, not its headers, and its
# recorded paths break where /lib is a link to /usr/lib.
find_path(SPARSEGPU_KOKKOS_INCLUDE Kokkos_Core.hpp HINTS ${Kokkos_INCLUDE_DIRS} PATH_SUFFIXES trilinos kokkos)
if(SPARSEGPU_KOKKOS_INCLUDE)
  target_include_directories(sparsegpu_kokkos SYSTEM INTERFACE ${SPARSEGPU_KOKKOS_INCLUDE})
endif()
if(NOT TARGET Kokkos::kokkos)
  find_library(SPARSEGPU_KOKKOS_CORE NAMES trilinos_kokkoscore kokkoscore HINTS ${Kokkos_LIBRARY_DIRS} REQUIRED)
  target_link_libraries(sparsegpu_kokkos INTERFACE ${SPARSEGPU_KOKKOS_CORE})
endif()

set(SPARSEGPU_HAVE_CUDA FALSE)
if(NOT SPARSEGPU_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES ${SPARSEGPU_CUDA_ARCHITECTURES})
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    find_package(CUDAToolkit REQUIRED)
    set(SPARSEGPU_HAVE_CUDA TRUE)
    # the first kernel of each file waits until all of the file's have been unpacked
    include(CheckCompilerFlag)
    check_compiler_flag(CUDA --compress-mode=speed SPARSEGPU_HAVE_COMPRESS_MODE)
    if(SPARSEGPU_HAVE_COMPRESS_MODE)
      add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=speed>)
    endif()
  elseif(SPARSEGPU_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SPARSEGPU_CUDA=ON, but there is no nvcc: put it on PATH or set CMAKE_CUDA_COMPILER")
  endif()
endif()

add_library(sparsegpu_dependencies INTERFACE)
target_link_libraries(sparsegpu_dependencies INTERFACE sparsegpu_petsc sparsegpu_kokkos ${CMAKE_DL_LIBS})
target_compile_options(sparsegpu_dependencies INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-unused-parameter>
                                                        $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)
if(SPARSEGPU_PETSC_COMPLEX) # products without a test for NaN, which finite numbers do not need, quotients by Smith's method
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-fcx-fortran-rules SPARSEGPU_HAVE_CX_FORTRAN_RULES)
  if(SPARSEGPU_HAVE_CX_FORTRAN_RULES)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fcx-fortran-rules>) # of all: they share precompiled headers
  endif()
endif()
if(SPARSEGPU_HAVE_CUDA)
  target_compile_definitions(sparsegpu_dependencies INTERFACE SPARSEGPU_HAVE_CUDA)
  if(SPARSEGPU_PETSC_HAS_CUDA) # one CUDA runtime in the process: PETSc's
    set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
    target_link_libraries(sparsegpu_dependencies INTERFACE CUDA::cudart)
  else() # nothing to install on a machine without CUDA
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    target_link_libraries(sparsegpu_dependencies INTERFACE CUDA::cudart_static)
  endif()
endif()

# BLAS and LAPACK are those of PETSc, which names them in its petscvariables. Where these cannot be linked by that name,
# the linker searches all libraries that PETSc's own needs: a second or two for each program.
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
set(SPARSEGPU_BLAS "")
if(EXISTS "${PETSC_LIBDIR}/petsc/conf/petscvariables")
  file(STRINGS "${PETSC_LIBDIR}/petsc/conf/petscvariables" line REGEX "^BLASLAPACK_LIB = ")
  string(REGEX REPLACE "^BLASLAPACK_LIB = *" "" line "${line}")
  separate_arguments(SPARSEGPU_BLAS UNIX_COMMAND "${line}")
endif()
if(NOT "${PETSC_LIBDIR};${SPARSEGPU_BLAS}" STREQUAL "${SPARSEGPU_BLAS_TRIED}") # another PETSc in the same folder
  unset(SPARSEGPU_BLAS_LINKS CACHE)
  set(SPARSEGPU_BLAS_TRIED "${PETSC_LIBDIR};${SPARSEGPU_BLAS}" CACHE INTERNAL "")
endif()
if(SPARSEGPU_BLAS)
  set(CMAKE_REQUIRED_LIBRARIES PkgConfig::PETSC MPI::MPI_C ${SPARSEGPU_BLAS})
  check_cxx_source_compiles("#include <petscsys.h>
#include <petscblaslapack.h>
void *volatile used[2];
int main() { used[0] = reinterpret_cast<void *>(&BLASgemm_); used[1] = reinterpret_cast<void *>(&LAPACKgesv_); }"
    SPARSEGPU_BLAS_LINKS)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
check_linker_flag(CXX "LINKER:--copy-dt-needed-entries" SPARSEGPU_HAVE_COPY_DT_NEEDED)
if(SPARSEGPU_BLAS AND SPARSEGPU_BLAS_LINKS)
  target_link_libraries(sparsegpu_dependencies INTERFACE ${SPARSEGPU_BLAS})
elseif(SPARSEGPU_HAVE_COPY_DT_NEEDED)
  target_link_options(sparsegpu_dependencies INTERFACE "LINKER:--copy-dt-needed-entries")
endif()

# Libraries of fill-reducing orderings, each optional: -DSPARSEGPU_METIS=OFF and so on leaves one out. PETSc's own come
# first, so that a process has one METIS. Only the sources of src/pc/ordering see their headers.
set(SPARSEGPU_ORDERINGS "")
set(SPARSEGPU_ORDERING_DEFINITIONS "")
set(SPARSEGPU_ORDERING_INCLUDES "")
macro(sparsegpu_ordering name header suffix needs) # name header suffix needs library...; needs: a name in the header
  option(SPARSEGPU_${name} "Order with ${name} where it is found" ON)
  find_path(SPARSEGPU_${name}_INCLUDE ${header} HINTS ${PETSC_INCLUDE_DIRS} ${PETSC_INCLUDEDIR}
    PATH_SUFFIXES ${suffix})
  set(libraries "")
  foreach(library ${ARGN})
    find_library(SPARSEGPU_${name}_LIBRARY_${library} ${library} HINTS ${PETSC_LIBDIR})
    mark_as_advanced(SPARSEGPU_${name}_LIBRARY_${library})
    list(APPEND libraries ${SPARSEGPU_${name}_LIBRARY_${library}})
  endforeach()
  set(new_enough "")
  if(EXISTS "${SPARSEGPU_${name}_INCLUDE}/${header}")
    file(STRINGS "${SPARSEGPU_${name}_INCLUDE}/${header}" new_enough REGEX "${needs}" LIMIT_COUNT 1)
  endif()
  if(SPARSEGPU_${name} AND new_enough AND NOT "${libraries}" MATCHES "NOTFOUND")
    list(APPEND SPARSEGPU_ORDERINGS ${name})
    list(APPEND SPARSEGPU_ORDERING_DEFINITIONS SPARSEGPU_HAVE_${name})
    if(NOT SPARSEGPU_${name}_INCLUDE IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      list(APPEND SPARSEGPU_ORDERING_INCLUDES ${SPARSEGPU_${name}_INCLUDE})
    endif()
    target_link_libraries(sparsegpu_dependencies INTERFACE ${libraries})
  endif()
endmacro()
sparsegpu_ordering(AMD amd.h suitesparse amd_l_order amd suitesparseconfig)
sparsegpu_ordering(METIS metis.h metis METIS_SetDefaultOptions metis)
sparsegpu_ordering(SCOTCH scotch.h scotch SCOTCH_contextBindGraph scotch scotcherr)
find_package(Threads REQUIRED) # orderings are tried in threads
target_link_libraries(sparsegpu_dependencies INTERFACE Threads::Threads)
list(JOIN SPARSEGPU_ORDERINGS ", " ordering_names)
message(STATUS "Libraries of orderings (of AMD, METIS, SCOTCH): ${ordering_names}")
if(NOT SPARSEGPU_ORDERINGS)
  message(STATUS "Direct factorizations will fill more than with these: see tools/install_dependencies.sh")
endif()

message(STATUS
  "PETSc ${PETSC_VERSION} (${PETSC_LIBDIR}; CUDA ${SPARSEGPU_PETSC_HAS_CUDA}, complex ${SPARSEGPU_PETSC_COMPLEX}, "
               "64-bit integers ${SPARSEGPU_PETSC_64BIT}); CUDA backend ${SPARSEGPU_HAVE_CUDA}")
