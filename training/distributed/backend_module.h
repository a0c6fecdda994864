// What a shared module with a process group exports, and how it is loaded: only when it is asked for, so that
// a machine without MPI or CUDA needs neither.
//
// A module has these two, with C linkage:
//   const char* WaymarkBackendVersion();           // kBackendVersion of the headers it was compiled with
//   bool WaymarkMakeBackend(const BackendRequest&, c10::intrusive_ptr<c10d::Backend>*, std::string* why_not);
//
// Includes LibTorch: for training/distributed/ only.
#pragma once
#include <torch/version.h>

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

namespace waymark {

inline constexpr char kBackendVersion[] = "2 torch " TORCH_VERSION;

struct BackendRequest {
  c10::intrusive_ptr<c10d::Store> store;  // null where the backend finds its ranks by itself (mpi)
  int rank = 0, size = 1, local_rank = 0;
  std::chrono::milliseconds timeout{60000};
  std::vector<int> members;  // of a part of all ranks: their numbers among all; empty: all of them
};

// Loads waymark_backend_NAME.so from beside the program. Throws std::runtime_error that says what is missing.
c10::intrusive_ptr<c10d::Backend> MakeModuleBackend(const std::string& name, const BackendRequest& request);
// Gloo is built in where its headers were found; throws where they were not.
c10::intrusive_ptr<c10d::Backend> MakeGlooBackend(const BackendRequest& request);

}  // namespace waymark
