# Flags for our own code. Warnings are errors here; other people's headers come in as system headers.
find_program(CCACHE ccache)
if(CCACHE)
  # gcc's precompiled headers are only cacheable with -fpch-preprocess (and CCACHE_SLOPPINESS, in scripts/environment).
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(WAYMARK_NATIVE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|aarch64")
  add_compile_options(-march=native)
endif()
# -O3 takes half as long again to compile: it is for libraries that say HOT.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options(-fpch-preprocess -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
# C++20 without a new ABI: LibTorch's wheel and Debian's libraries share libstdc++'s default one.
set(WAYMARK_WARNINGS -Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-psabi)

if(WAYMARK_SANITIZER STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
elseif(WAYMARK_SANITIZER STREQUAL "thread")
  # protobuf's generated maps have another layout under __SANITIZE_THREAD__ than its library was built with.
  add_compile_options(-fsanitize=thread -U__SANITIZE_THREAD__)
  add_link_options(-fsanitize=thread)
elseif(WAYMARK_SANITIZER STREQUAL "fuzzer")  # clang's (scripts/fuzz)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  set(WAYMARK_WARNINGS)  # those of GCC are held to
  add_link_options(-fsanitize=address,undefined)
elseif(NOT WAYMARK_SANITIZER STREQUAL "")
  message(FATAL_ERROR "WAYMARK_SANITIZER is '${WAYMARK_SANITIZER}'; it takes 'address', 'thread', 'fuzzer' or nothing")
endif()
