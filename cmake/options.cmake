# Compiler options of every target: strict floating point, warnings, sanitizers, ccache.

# Strict floating point: no contraction anywhere but where an op says so.
add_compile_options(-ffp-contract=off)

set(REPRISE_WARNINGS -Wall -Wextra)
if(REPRISE_WERROR)
  list(APPEND REPRISE_WARNINGS -Werror)
endif()

if(REPRISE_SANITIZE)
  # C is only used for small objects that tests load as kernels; those stay plain.
  add_compile_options(
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${REPRISE_SANITIZE}>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>
    # Reports name lines; whole debug information doubles the time to compile instrumented code.
    $<$<COMPILE_LANGUAGE:CXX>:-g1>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>)
  add_link_options(-fsanitize=${REPRISE_SANITIZE})
  # Instrumentation hides initializations from GCC's analysis.
  list(APPEND REPRISE_WARNINGS -Wno-maybe-uninitialized)
endif()

find_program(REPRISE_CCACHE ccache)
mark_as_advanced(REPRISE_CCACHE)
if(REPRISE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${REPRISE_CCACHE})
endif()
