# SPARSEGPU_CUDA_GROUPS: CUDA sources are compiled in groups that read their headers once: nvcc reads them four times for
# each file it is given, most of its time for one of ours. A group has at most one source of a folder, since those share
# a namespace and have names of their own in it. Off with a compiler launcher, as of those who change sources.
#
# As a script it writes the groups of all sources, and nothing else: cmake -DGROUPS=folder -P cmake/cuda_groups.cmake

# sparsegpu_group_cuda(RESULT FOLDER SOURCES): the files in FOLDER that include SOURCES, given below `root`.
function(sparsegpu_group_cuda result folder root)
  set(sources ${ARGN})
  list(SORT sources)
  set(most 1)
  set(count 0)
  set(before "")
  foreach(source IN LISTS sources)
    string(REGEX MATCH "^src/[^/]+(/[^/]+/)?" space ${source}) # of one namespace, and those below it
    if(NOT space STREQUAL before)
      set(count 0)
      set(before ${space})
    endif()
    math(EXPR count "${count} + 1")
    if(count GREATER most)
      set(most ${count})
    endif()
  endforeach()
  set(next 0)
  foreach(source IN LISTS sources)
    string(APPEND group_${next} "#include \"${root}/${source}\"\n")
    math(EXPR next "(${next} + 1) % ${most}")
  endforeach()
  set(files "")
  math(EXPR last "${most} - 1")
  foreach(k RANGE ${last})
    set(file ${folder}/group_${k}.cu)
    file(CONFIGURE OUTPUT ${file} CONTENT "${group_${k}}" @ONLY) # written only if it is another
    list(APPEND files ${file})
  endforeach()
  set(${result} ${files} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
  file(GLOB_RECURSE sources RELATIVE ${root} ${root}/src/*.cu)
  sparsegpu_group_cuda(files ${GROUPS} ${root} ${sources})
  return()
endif()

set(groups_default ON)
if(CMAKE_CUDA_COMPILER_LAUNCHER)
  set(groups_default OFF)
endif()
option(SPARSEGPU_CUDA_GROUPS "Compile CUDA sources in groups that read their headers once" ${groups_default})
