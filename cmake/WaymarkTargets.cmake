# waymark_library(NAME SOURCES a.cc ... DEPS lib ...): one library of a folder; headers are found from the tree's root.
# waymark_test(NAME SOURCES a_test.cc ... DEPS lib ... [LABELS ...]): one Catch2 program, run by ctest test by test file.
# Headers that nearly every file reads, precompiled once for each way to optimise: a good part of the time to build. RPC:
# those of gRPC and JSON too.
function(waymark_with_common_headers name optimize rpc)
  if(NOT WAYMARK_PCH)
    return()
  endif()
  set(common
    <algorithm> <atomic> <chrono> <cmath> <filesystem> <functional> <map> <memory> <mutex> <optional> <random>
    <string> <thread> <unordered_map> <variant> <vector>
    <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h> <absl/status/statusor.h>
    <absl/strings/str_cat.h> <absl/strings/str_split.h> <absl/time/clock.h> <absl/time/time.h>
    <absl/types/span.h> <google/protobuf/message.h> <google/protobuf/struct.pb.h>
    <google/protobuf/timestamp.pb.h>)
  set(pch waymark_common_pch${optimize})
  if(rpc)
    set(pch waymark_rpc_pch${optimize})
    list(APPEND common <grpcpp/grpcpp.h> <nlohmann/json.hpp>)
  endif()
  if(NOT TARGET ${pch})
    file(WRITE ${CMAKE_BINARY_DIR}/common_pch.cc "// Builds the precompiled common headers.\n")
    add_library(${pch} STATIC ${CMAKE_BINARY_DIR}/common_pch.cc)
    target_link_libraries(${pch} PRIVATE waymark_absl PkgConfig::PROTOBUF)
    if(rpc)
      target_link_libraries(${pch} PRIVATE PkgConfig::GRPC nlohmann_json::nlohmann_json)
    endif()
    target_compile_options(${pch} PRIVATE ${WAYMARK_WARNINGS} ${optimize})
    target_precompile_headers(${pch} PRIVATE ${common})
  endif()
  waymark_reuse_headers(${name} ${pch})
endfunction()

# They are compiled with -fPIC, which a program's -fPIE does not go with.
function(waymark_reuse_headers name from)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_precompile_headers(${name} REUSE_FROM ${from})
endfunction()

# Some sources at a time: what they all read is read once, which is most of the time to compile them.
function(waymark_in_unity name)
  if(WAYMARK_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${WAYMARK_UNITY})
    # GCC takes a class of a source that is included for one of a header.
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# HOT: loops over postings, columns and vectors; COLD: run once a request or less. OWN_FLAGS: compiled with flags that
# precompiled headers do not go with. RPC: headers of gRPC and JSON are precompiled too.
function(waymark_library name)
  cmake_parse_arguments(A "TORCH;OWN_FLAGS;HOT;COLD;RPC" "" "SOURCES;DEPS" ${ARGN})
  set(optimize)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    if(A_HOT)
      set(optimize -O3)
    elseif(A_COLD)
      set(optimize -O1)
    endif()
  endif()
  add_library(${name} STATIC ${A_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${WAYMARK_WARNINGS} ${optimize})
  target_link_libraries(${name} PUBLIC waymark_absl ${A_DEPS})
  waymark_in_unity(${name})
  if(A_TORCH)
    waymark_with_torch(${name})
  elseif(NOT A_OWN_FLAGS)
    waymark_with_common_headers(${name} "${optimize}" "${A_RPC}")
  endif()
endfunction()

# Torch is for the target's own sources only, with one precompiled header shared by all such targets.
function(waymark_with_torch name)
  target_link_libraries(${name} PRIVATE waymark_torch)
  # Otherwise gcc guesses that an ItemDirectory is the live collection's, and its inlined body asks for the store.
  target_compile_options(${name} PRIVATE -fno-devirtualize-speculatively)
  if(WAYMARK_PCH)
    if(NOT TARGET waymark_torch_pch)
      file(WRITE ${CMAKE_BINARY_DIR}/torch_pch.cc "// Builds the precompiled header of LibTorch.\n")
      add_library(waymark_torch_pch STATIC ${CMAKE_BINARY_DIR}/torch_pch.cc)
      target_link_libraries(waymark_torch_pch PRIVATE waymark_torch waymark_absl)
      target_compile_options(waymark_torch_pch PRIVATE ${WAYMARK_WARNINGS} -fno-devirtualize-speculatively)
      target_precompile_headers(waymark_torch_pch PRIVATE <torch/torch.h>)
    endif()
    waymark_reuse_headers(${name} waymark_torch_pch)
  endif()
endfunction()

function(waymark_test name)
  cmake_parse_arguments(A "TORCH" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT TARGET waymark_test_main)  # Catch2's own part, compiled once
    add_library(waymark_test_main OBJECT ${CMAKE_SOURCE_DIR}/tests/support/main.cc)
    target_include_directories(waymark_test_main PRIVATE ${CMAKE_SOURCE_DIR})
    target_compile_definitions(waymark_test_main PRIVATE WAYMARK_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_link_libraries(waymark_test_main PRIVATE waymark_absl Catch2::Catch2)
    if(WAYMARK_SANITIZER)
      target_compile_options(waymark_test_main PRIVATE -Wno-maybe-uninitialized)
    endif()
  endif()
  add_executable(${name} ${A_SOURCES} $<TARGET_OBJECTS:waymark_test_main>)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${WAYMARK_WARNINGS})
  # GCC 12 warns of "text" + std::to_string(n) where nothing overlaps (its bug 105651).
  target_compile_options(${name} PRIVATE -Wno-restrict)
  if(WAYMARK_SANITIZER)
    target_compile_options(${name} PRIVATE -Wno-maybe-uninitialized)  # of <regex>, its bug 105562
  endif()
  target_compile_definitions(${name} PRIVATE WAYMARK_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE waymark_absl Catch2::Catch2 ${A_DEPS})
  # Not the common headers: in precompiled ones GCC 12 reports what it wrongly suspects in system headers.
  if(A_TORCH)
    waymark_with_torch(${name})
  endif()
  add_test(NAME ${name} COMMAND ${name} --use-colour no)
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 600)
  endif()
  if(WAYMARK_SANITIZER)
    math(EXPR A_TIMEOUT "${A_TIMEOUT} * 6")  # they make programs slow
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT})
  if(A_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${A_LABELS}")
  endif()
endfunction()

function(waymark_program name)
  cmake_parse_arguments(A "TORCH" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${WAYMARK_WARNINGS})
  target_link_libraries(${name} PRIVATE waymark_absl ${A_DEPS})
  if(A_TORCH)
    waymark_with_torch(${name})
  else()
    waymark_with_common_headers(${name} "" FALSE)
  endif()
endfunction()
