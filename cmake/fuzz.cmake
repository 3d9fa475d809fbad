# SPARSEGPU_FUZZ: all sources with the counters of libFuzzer, AddressSanitizer and UBSan, whose reports end a program.
# The programs of tests/fuzz then look for inputs themselves; in other builds they run the files that they are given.
option(SPARSEGPU_FUZZ "Build with clang's sanitizers and the fuzzers of tests/fuzz" OFF)
if(SPARSEGPU_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "SPARSEGPU_FUZZ=ON needs clang, not ${CMAKE_CXX_COMPILER_ID}: "
      "-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++")
  endif()
  # vptr asks for the type information of C++ objects, which libraries hide; PetscEnum is declared with one value and
  # holds those of all enumerations
  set(fuzz_sanitizers -fsanitize=address,undefined -fno-sanitize=vptr,enum)
  add_compile_options(-O1 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link ${fuzz_sanitizers}
    -fno-sanitize-recover=undefined)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(${fuzz_sanitizers})
endif()
