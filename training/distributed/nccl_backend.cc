// The backend 'nccl', as a module of its own (backend_module.h). The network computes on the CPU: what is
// exchanged goes through the memory of the rank's GPU and back.
//
// Compiled against a CUDA build of the same torch; a machine without one neither has this module nor loads
// CUDA.
#define USE_C10D_NCCL
#include <c10/cuda/CUDAFunctions.h>
#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "training/distributed/backend_module.h"

namespace waymark {
namespace {

// Waits for NCCL, then brings the result back.
class StagedWork : public c10d::Work {
 public:
  StagedWork(c10d::OpType type, c10::intrusive_ptr<c10d::Work> work, at::Tensor device, at::Tensor host,
             at::Tensor kept)
      : Work(-1, type),
        work_(std::move(work)),
        device_(std::move(device)),
        host_(std::move(host)),
        kept_(std::move(kept)) {}
  bool wait(std::chrono::milliseconds timeout) override {
    if (!work_->wait(timeout)) return false;
    host_.copy_(device_);  // after NCCL's stream, and waits for it
    return true;
  }

 private:
  c10::intrusive_ptr<c10d::Work> work_;
  at::Tensor device_, host_, kept_;
};

class StagedNccl : public c10d::Backend {
 public:
  StagedNccl(const BackendRequest& request, c10::intrusive_ptr<c10d::ProcessGroupNCCL> nccl, int device)
      : Backend(request.rank, request.size),
        nccl_(std::move(nccl)),
        device_(at::kCUDA, static_cast<int8_t>(device)) {}
  const std::string getBackendName() const override { return "nccl"; }

  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override {
    std::vector<at::Tensor> staged = {tensors.at(0).to(device_)};
    auto work = nccl_->allreduce(staged, options);
    return c10::make_intrusive<StagedWork>(c10d::OpType::ALLREDUCE, work, staged[0], tensors[0],
                                           at::Tensor());
  }
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& out, at::Tensor& in,
                                                 const c10d::AllgatherOptions& options) override {
    at::Tensor to = at::empty(out.sizes(), out.options().device(device_)), from = in.to(device_);
    auto work = nccl_->_allgather_base(to, from, options);
    return c10::make_intrusive<StagedWork>(c10d::OpType::_ALLGATHER_BASE, work, to, out, from);
  }
  c10::intrusive_ptr<c10d::Work> alltoall_base(at::Tensor& out, at::Tensor& in,
                                               std::vector<int64_t>& out_splits,
                                               std::vector<int64_t>& in_splits,
                                               const c10d::AllToAllOptions& options) override {
    at::Tensor to = at::empty(out.sizes(), out.options().device(device_)), from = in.to(device_);
    auto work = nccl_->alltoall_base(to, from, out_splits, in_splits, options);
    return c10::make_intrusive<StagedWork>(c10d::OpType::ALLTOALL_BASE, work, to, out, from);
  }

 private:
  c10::intrusive_ptr<c10d::ProcessGroupNCCL> nccl_;
  at::Device device_;
};

}  // namespace
}  // namespace waymark

extern "C" const char* WaymarkBackendVersion() { return waymark::kBackendVersion; }

extern "C" bool WaymarkMakeBackend(const waymark::BackendRequest& request,
                                   c10::intrusive_ptr<c10d::Backend>* backend, std::string* why_not) {
  try {
    const int devices = c10::cuda::device_count();
    if (devices == 0) {
      *why_not = "this machine has no GPU that CUDA finds; --backend gloo exchanges on the CPU";
      return false;
    }
    if (request.local_rank >= devices) {
      *why_not = "local rank " + std::to_string(request.local_rank) + " has no GPU of its own: there are " +
                 std::to_string(devices);
      return false;
    }
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = request.timeout;
    c10::cuda::set_device(static_cast<c10::DeviceIndex>(request.local_rank));
    auto nccl =
        c10::make_intrusive<c10d::ProcessGroupNCCL>(request.store, request.rank, request.size, options);
    *backend = c10::make_intrusive<waymark::StagedNccl>(request, std::move(nccl), request.local_rank);
    return true;
  } catch (const std::exception& e) {
    *why_not = e.what();
    return false;
  }
}
