#include "training/distributed/backend_module.h"

#ifdef WAYMARK_HAS_GLOO
#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#else
#include <stdexcept>
#endif

namespace waymark {

c10::intrusive_ptr<c10d::Backend> MakeGlooBackend([[maybe_unused]] const BackendRequest& request) {
#ifdef WAYMARK_HAS_GLOO
  // Debian's headers differ from the wheel's code in layout: only what is named here is used of them.
  return c10::make_intrusive<c10d::ProcessGroupGloo>(
      request.store, request.rank, request.size,
      c10d::ProcessGroupGloo::Options::create_default(request.timeout));
#else
  throw std::runtime_error(
      "the backend 'gloo' is not built: the headers of libgloo-dev were not there at configuration");
#endif
}

}  // namespace waymark
