# SPARSEGPU_PRECOMPILED_HEADERS: the headers of PETSc and of the C++ library that most sources include are read once.
# They are two thirds of the time that a source of ours takes. Off with a compiler launcher: ccache keeps no objects that
# use such headers unless it is told to, and keeps all others.
set(precompiled_default ON)
if(CMAKE_CXX_COMPILER_LAUNCHER OR SPARSEGPU_FUZZ)
  set(precompiled_default OFF)
endif()
option(SPARSEGPU_PRECOMPILED_HEADERS "Read the headers of PETSc and C++ that most sources include once"
  ${precompiled_default})
set(precompiled_headers <petsc/private/kspimpl.h> <petsc/private/matimpl.h> <petsc/private/pcimpl.h> <petscksp.h>
  <algorithm> <cmath> <cstdint> <cstring> <memory> <numeric> <string> <vector>)
list(TRANSFORM precompiled_headers REPLACE "^<(.*)>$" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")

# sparsegpu_precompiled(TARGET): for a target of many sources.
function(sparsegpu_precompiled target)
  if(SPARSEGPU_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${precompiled_headers})
  endif()
endfunction()

# sparsegpu_precompiled_as(TARGET KIND): for one of many programs whose options are alike, which `KIND` names: they share
# the headers that were compiled for the first of them.
function(sparsegpu_precompiled_as target kind)
  if(NOT SPARSEGPU_PRECOMPILED_HEADERS)
    return()
  endif()
  get_property(first GLOBAL PROPERTY sparsegpu_precompiled_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    sparsegpu_precompiled(${target})
    set_property(GLOBAL PROPERTY sparsegpu_precompiled_${kind} ${target})
  endif()
endfunction()
