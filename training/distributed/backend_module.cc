#include "training/distributed/backend_module.h"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

std::string ModulePath(const std::string& name) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return (program.parent_path() / absl::StrCat("waymark_backend_", name, ".so")).string();
}

const char* WhatItNeeds(const std::string& name) {
  return name == "mpi" ? "libopenmpi-dev" : "the CUDA build of torch with the headers of CUDA and NCCL";
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> MakeModuleBackend(const std::string& name, const BackendRequest& request) {
  const std::string path = ModulePath(name);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw std::runtime_error(absl::StrCat("the backend '", name, "' is not built: there is no ", path,
                                          "; it is made when ", WhatItNeeds(name),
                                          " is there at configuration (docs/training.md)"));
  }
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) {
    const char* why = dlerror();
    throw std::runtime_error(absl::StrCat("the backend '", name, "' cannot be loaded: ", why ? why : path));
  }
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(module, "WaymarkBackendVersion"));
  const auto make =
      reinterpret_cast<bool (*)(const BackendRequest&, c10::intrusive_ptr<c10d::Backend>*, std::string*)>(
          dlsym(module, "WaymarkMakeBackend"));
  if (version == nullptr || make == nullptr) {
    throw std::runtime_error(absl::StrCat(path, " is no backend of waymark-train"));
  }
  if (std::strcmp(version(), kBackendVersion) != 0) {
    throw std::runtime_error(absl::StrCat(path, " was built for '", version(), "', this program is '",
                                          kBackendVersion, "'; build both together"));
  }
  c10::intrusive_ptr<c10d::Backend> backend;
  std::string why_not;
  if (!make(request, &backend, &why_not)) {
    throw std::runtime_error(absl::StrCat("the backend '", name, "' cannot start: ", why_not));
  }
  return backend;
}

}  // namespace waymark
