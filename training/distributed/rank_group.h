// The ranks of a run and what they exchange: the one place that speaks to a process group (c10d). Made once,
// after the launcher has said who this process is.
//
//   absl::StatusOr<std::unique_ptr<RankGroup>> group = RankGroup::Make(place, options);
//   (*group)->Sum(tensor);
//
// Every exchange ends within the timeout: with the result, or with an ExchangeError that says what was waited
// for (and, where it is known, which rank failed and why). A watchdog ends the process when even that does
// not happen. One rank alone exchanges nothing and needs no backend.
//
// Includes LibTorch: for training/ only. One thread at a time, but BeginSum, which may come from another.
#pragma once
#include <torch/torch.h>

#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "training/distributed/launch.h"

namespace waymark {

struct ExchangeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct RankGroupOptions {
  std::string backend = "auto";  // auto, gloo, nccl, mpi
  absl::Duration timeout = absl::Seconds(60);
  // Asked while ranks wait for each other to come: the process ends at once, with a line that says so.
  // Backends cannot be called back from there, and there is nothing yet that would be lost.
  std::stop_token stop;
};

// A sum or a message that is under way.
class PendingExchange {
 public:
  virtual ~PendingExchange() = default;
  virtual void Wait() = 0;
};

class RankGroup {
 public:
  // INVALID_ARGUMENT: no such backend. FAILED_PRECONDITION: it is not built into this program. UNAVAILABLE:
  // the other ranks do not come within the timeout.
  static absl::StatusOr<std::unique_ptr<RankGroup>> Make(const LaunchPlace& place,
                                                         const RankGroupOptions& options);
  virtual ~RankGroup() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const std::string& backend() const = 0;  // "gloo"; "none" of one rank

  // In place, the same bits on every rank. Any contiguous tensor of numbers.
  virtual void Sum(at::Tensor tensor) = 0;
  virtual std::unique_ptr<PendingExchange> BeginSum(at::Tensor tensor) = 0;
  // own: [n], the same n and type everywhere -> [size, n].
  virtual at::Tensor Gather(const at::Tensor& own) = 0;
  // rows: [own count, columns], counts[r] of rank r -> of each rank [counts[r], columns].
  virtual std::vector<at::Tensor> GatherRows(const at::Tensor& rows, const std::vector<int64_t>& counts) = 0;
  // Row i of `rows` goes to the rank whose share it lies in: send[r] rows to rank r, receive[r] from it.
  virtual at::Tensor Swap(const at::Tensor& rows, const std::vector<int64_t>& send,
                          const std::vector<int64_t>& receive) = 0;
  virtual std::vector<std::string> GatherText(const std::string& own) = 0;
  virtual void Barrier() = 0;
  // To one rank of the group, which receives what was sent to it in that order. The tensor is read until Wait
  // has returned. `into` is contiguous and of the size that was sent.
  virtual std::unique_ptr<PendingExchange> BeginSend(const at::Tensor& tensor, int to) = 0;
  virtual void Receive(at::Tensor into, int from) = 0;

  // A group of some of the ranks, in that order, this one among them; called on all of those, and on all
  // ranks in the same order of groups. Its failures are this group's. It must not outlive this one.
  virtual absl::StatusOr<std::unique_ptr<RankGroup>> Split(const std::string& name,
                                                           const std::vector<int>& members) = 0;

  // Tells the other ranks why this one ends. Bounded in time; never throws.
  virtual void TellFailure(const std::string& why) = 0;
  // What another rank has told; empty: nothing, or it can't be asked.
  virtual std::string ToldFailure() = 0;

  // How much was exchanged so far.
  int64_t bytes_sent() const { return bytes_; }

 protected:
  int64_t bytes_ = 0;
};

}  // namespace waymark
