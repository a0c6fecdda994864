# Every library of others, as one imported target each, so that a folder names what it uses.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED)

function(waymark_from_environment variable meaning)
  if(NOT DEFINED ${variable} AND DEFINED ENV{${variable}})
    set(${variable} $ENV{${variable}} CACHE PATH "${meaning}")
  endif()
  if(NOT ${variable})
    message(FATAL_ERROR "${variable} is not set (${meaning}). Run scripts/setup, then build through scripts/build.")
  endif()
endfunction()
waymark_from_environment(WAYMARK_TORCH "LibTorch: the folder that holds include/ and lib/")
waymark_from_environment(WAYMARK_PROTOS "the folder that holds google/api/annotations.proto")
waymark_from_environment(WAYMARK_FAISS "FAISS's prefix, or 'system'")

# As pkg_check_modules, which asks some twenty times, of gRPC and Abseil for a second or two each.
function(waymark_package name)
  foreach(question cflags libs)
    execute_process(COMMAND ${PKG_CONFIG_EXECUTABLE} --${question} ${ARGN} OUTPUT_VARIABLE ${question}
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE problem RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "pkg-config does not know all of ${ARGN}. Run scripts/setup. ${problem}")
    endif()
    separate_arguments(${question} UNIX_COMMAND "${${question}}")
  endforeach()
  add_library(PkgConfig::${name} INTERFACE IMPORTED GLOBAL)
  target_compile_options(PkgConfig::${name} INTERFACE ${cflags})
  target_link_libraries(PkgConfig::${name} INTERFACE ${libs})
endfunction()

waymark_package(GRPC grpc++)
pkg_check_modules(PROTOBUF REQUIRED IMPORTED_TARGET protobuf)
waymark_package(ABSL absl_status absl_statusor absl_strings absl_str_format absl_time
                absl_synchronization absl_flat_hash_map absl_flat_hash_set absl_hash absl_span absl_inlined_vector)
pkg_check_modules(ROCKSDB REQUIRED IMPORTED_TARGET rocksdb)
pkg_check_modules(OPENSSL REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(OPENSSL_TLS REQUIRED IMPORTED_TARGET libssl libcrypto)
pkg_check_modules(ICU REQUIRED IMPORTED_TARGET icu-uc icu-i18n)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Catch2 REQUIRED)

add_library(waymark_absl INTERFACE)
target_link_libraries(waymark_absl INTERFACE PkgConfig::ABSL Threads::Threads)
add_library(waymark_roaring INTERFACE)
target_link_libraries(waymark_roaring INTERFACE roaring)
add_library(waymark_stemmer INTERFACE)
target_link_libraries(waymark_stemmer INTERFACE stemmer)
add_library(waymark_lucene INTERFACE)
target_link_libraries(waymark_lucene INTERFACE lucene++ boost_filesystem boost_system boost_thread)

# LibTorch's CPU library carries MKL and exports its BLAS; so does OpenBLAS. The first of them on the link line serves both,
# so LibTorch comes first, as an option, because CMake orders libraries itself: with OpenBLAS, its small products wait for a pool of spinning threads.
add_library(waymark_faiss INTERFACE)
# By its name: with the path of the compiler's own, CMake warns of each program that LibTorch's folder holds another.
target_compile_options(waymark_faiss INTERFACE ${OpenMP_CXX_FLAGS})
target_link_options(waymark_faiss INTERFACE
  "LINKER:--push-state,--no-as-needed" ${WAYMARK_TORCH}/lib/libtorch_cpu.so "LINKER:--pop-state" -Wl,-rpath,${WAYMARK_TORCH}/lib)
if(WAYMARK_FAISS STREQUAL "system" OR NOT EXISTS ${WAYMARK_FAISS}/lib/libfaiss.a)
  target_link_libraries(waymark_faiss INTERFACE faiss openblas gomp)
  target_compile_definitions(waymark_faiss INTERFACE WAYMARK_FAISS_BUILD="system package")
else()
  target_include_directories(waymark_faiss SYSTEM INTERFACE ${WAYMARK_FAISS}/include)
  target_link_libraries(waymark_faiss INTERFACE ${WAYMARK_FAISS}/lib/libfaiss.a openblas gomp)
  target_compile_definitions(waymark_faiss INTERFACE WAYMARK_FAISS_BUILD="built for this processor")
endif()

# LibTorch from the wheel. Its include folder also carries headers of an older protobuf, which would
# shadow the system's: -idirafter puts it last.
add_library(waymark_torch INTERFACE)
target_compile_options(waymark_torch INTERFACE
  "SHELL:-idirafter ${WAYMARK_TORCH}/include" "SHELL:-idirafter ${WAYMARK_TORCH}/include/torch/csrc/api/include"
  -Wno-unused-parameter -Wno-deprecated-declarations)
target_link_libraries(waymark_torch INTERFACE ${WAYMARK_TORCH}/lib/libtorch_cpu.so ${WAYMARK_TORCH}/lib/libc10.so)
target_link_options(waymark_torch INTERFACE -Wl,-rpath,${WAYMARK_TORCH}/lib)
