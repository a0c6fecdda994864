#include "training/distributed/rank_group.h"

#include <c10/util/Logging.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "training/distributed/backend_module.h"
#include "training/distributed/exchange_watchdog.h"
#include "training/distributed/rank_meeting.h"
#include "training/distributed/rank_signs.h"

namespace waymark {
namespace {

std::chrono::milliseconds Millis(absl::Duration duration) {
  return std::chrono::milliseconds(absl::ToInt64Milliseconds(duration));
}

// LibTorch adds a stack to what it says.
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

c10::intrusive_ptr<c10d::Backend> MakeBackend(const std::string& name, const BackendRequest& request) {
  return name == "gloo" ? MakeGlooBackend(request) : MakeModuleBackend(name, request);
}

class OneRank : public RankGroup {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  const std::string& backend() const override { return backend_; }
  void Sum(at::Tensor) override {}
  std::unique_ptr<PendingExchange> BeginSum(at::Tensor) override {
    struct Done : PendingExchange {
      void Wait() override {}
    };
    return std::make_unique<Done>();
  }
  at::Tensor Gather(const at::Tensor& own) override { return own.unsqueeze(0); }
  std::vector<at::Tensor> GatherRows(const at::Tensor& rows, const std::vector<int64_t>&) override {
    return {rows};
  }
  at::Tensor Swap(const at::Tensor& rows, const std::vector<int64_t>&, const std::vector<int64_t>&) override {
    return rows;
  }
  std::vector<std::string> GatherText(const std::string& own) override { return {own}; }
  void Barrier() override {}
  std::unique_ptr<PendingExchange> BeginSend(const at::Tensor&, int) override {
    throw ExchangeError("one rank alone has nobody to send to");
  }
  void Receive(at::Tensor, int) override { throw ExchangeError("one rank alone has nobody to hear from"); }
  absl::StatusOr<std::unique_ptr<RankGroup>> Split(const std::string&, const std::vector<int>&) override {
    return std::make_unique<OneRank>();
  }
  void TellFailure(const std::string&) override {}
  std::string ToldFailure() override { return ""; }

 private:
  std::string backend_ = "none";
};

class BackendRanks : public RankGroup {
 public:
  BackendRanks(const LaunchPlace& place, std::string backend_name, absl::Duration timeout,
               c10::intrusive_ptr<c10d::Store> store, c10::intrusive_ptr<c10d::Backend> backend)
      : rank_(place.rank),
        size_(place.world_size),
        world_rank_(place.rank),
        local_rank_(place.local_rank),
        name_(std::move(backend_name)),
        timeout_(timeout),
        store_(std::move(store)),
        backend_(std::move(backend)),
        signs_(std::make_shared<RankSigns>(store_, place)),
        watchdog_(place.rank, timeout * 1.5 + absl::Seconds(10), [this] { return signs_->WhoIsMissing(); }) {}

  // Some of the ranks of another group.
  BackendRanks(BackendRanks* of, int rank, int size, c10::intrusive_ptr<c10d::Backend> backend)
      : rank_(rank),
        size_(size),
        world_rank_(of->world_rank_),
        local_rank_(of->local_rank_),
        name_(of->name_),
        timeout_(of->timeout_),
        backend_(std::move(backend)),
        signs_(of->signs_),
        watchdog_(world_rank_, timeout_ * 1.5 + absl::Seconds(10),
                  [this] { return signs_->WhoIsMissing(); }) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  const std::string& backend() const override { return name_; }

  absl::StatusOr<std::unique_ptr<RankGroup>> Split(const std::string& name,
                                                   const std::vector<int>& members) override {
    if (members.size() == 1) return std::make_unique<OneRank>();
    BackendRequest request;
    request.size = static_cast<int>(members.size());
    request.rank = static_cast<int>(std::find(members.begin(), members.end(), rank_) - members.begin());
    request.local_rank = local_rank_;
    request.timeout = Millis(timeout_);
    request.members = members;
    if (store_ != nullptr) {
      request.store = c10::make_intrusive<c10d::PrefixStore>(absl::StrCat("group/", name), store_);
    }
    try {
      return std::make_unique<BackendRanks>(this, request.rank, request.size, MakeBackend(name_, request));
    } catch (const std::exception& e) {
      return absl::UnavailableError(absl::StrCat("the ", members.size(), " ranks of the group ", name,
                                                 " do not come together (rank ", world_rank_, ", ", name_,
                                                 "): ", FirstLine(e.what())));
    }
  }

  void Sum(at::Tensor tensor) override { BeginSum(std::move(tensor))->Wait(); }

  std::unique_ptr<PendingExchange> BeginSum(at::Tensor tensor) override {
    auto waiting = std::make_unique<Waiting>();
    waiting->ranks = this;
    waiting->what = "adding up over ranks";
    bytes_ += tensor.numel() * tensor.element_size();
    waiting->tensors = {std::move(tensor)};
    try {
      c10d::AllreduceOptions options;
      options.reduceOp = c10d::ReduceOp::SUM;
      options.timeout = Millis(timeout_);
      waiting->work = backend_->allreduce(waiting->tensors, options);
    } catch (const std::exception& e) {
      Fail("adding up over ranks", e.what());
    }
    return waiting;
  }

  std::unique_ptr<PendingExchange> BeginSend(const at::Tensor& tensor, int to) override {
    auto waiting = std::make_unique<Waiting>();
    waiting->ranks = this;
    waiting->what = "sending to another rank";
    bytes_ += tensor.numel() * tensor.element_size();
    waiting->tensors = {tensor};
    try {
      waiting->work = backend_->send(waiting->tensors, to, 0);
    } catch (const std::exception& e) {
      Fail(waiting->what, e.what());
    }
    return waiting;
  }

  void Receive(at::Tensor tensor, int from) override {
    std::vector<at::Tensor> tensors = {std::move(tensor)};
    Finish("receiving from another rank", [&] { return backend_->recv(tensors, from, 0); });
  }

  at::Tensor Gather(const at::Tensor& own) override {
    at::Tensor input = own.contiguous(), out = at::empty({size_ * input.numel()}, input.options());
    bytes_ += input.numel() * input.element_size();
    c10d::AllgatherOptions options;
    options.timeout = Millis(timeout_);
    Finish("gathering from all ranks", [&] { return backend_->_allgather_base(out, input, options); });
    return out.view({size_, input.numel()});
  }

  std::vector<at::Tensor> GatherRows(const at::Tensor& rows, const std::vector<int64_t>& counts) override {
    const int64_t most = *std::max_element(counts.begin(), counts.end()), columns = rows.size(1);
    std::vector<at::Tensor> out;
    if (most == 0) {
      for (int r = 0; r < size_; ++r) out.push_back(rows.narrow(0, 0, 0));
      return out;
    }
    at::Tensor padded = rows;
    if (rows.size(0) < most) {
      padded = at::zeros({most, columns}, rows.options());
      padded.narrow(0, 0, rows.size(0)).copy_(rows);
    }
    const at::Tensor all = Gather(padded.reshape({most * columns})).view({size_, most, columns});
    for (int r = 0; r < size_; ++r) out.push_back(all[r].narrow(0, 0, counts[r]));
    return out;
  }

  at::Tensor Swap(const at::Tensor& rows, const std::vector<int64_t>& send,
                  const std::vector<int64_t>& receive) override {
    int64_t incoming = 0;
    for (int64_t n : receive) incoming += n;
    at::Tensor input = rows.contiguous(), out = at::empty({incoming, rows.size(1)}, rows.options());
    bytes_ += input.numel() * input.element_size();
    std::vector<int64_t> out_splits = receive, in_splits = send;
    c10d::AllToAllOptions options;
    options.timeout = Millis(timeout_);
    Finish("swapping rows between ranks",
           [&] { return backend_->alltoall_base(out, input, out_splits, in_splits, options); });
    return out;
  }

  std::vector<std::string> GatherText(const std::string& own) override {
    const at::Tensor lengths =
        Gather(at::scalar_tensor(static_cast<int64_t>(own.size()), at::kLong).view({1}));
    std::vector<int64_t> counts(lengths.data_ptr<int64_t>(), lengths.data_ptr<int64_t>() + size_);
    at::Tensor bytes = at::empty({static_cast<int64_t>(own.size()), 1}, at::kByte);
    std::copy(own.begin(), own.end(), bytes.data_ptr<uint8_t>());
    std::vector<std::string> out;
    for (const at::Tensor& text : GatherRows(bytes, counts)) {
      const at::Tensor flat = text.contiguous();
      out.emplace_back(reinterpret_cast<const char*>(flat.data_ptr<uint8_t>()), flat.numel());
    }
    return out;
  }

  void Barrier() override {
    at::Tensor one = at::ones({1}, at::kLong);
    Sum(one);
  }

  void TellFailure(const std::string& why) override { signs_->Tell(why); }
  std::string ToldFailure() override { return signs_->Told(); }

 private:
  struct Waiting : PendingExchange {
    BackendRanks* ranks;
    const char* what;
    c10::intrusive_ptr<c10d::Work> work;
    std::vector<at::Tensor> tensors;
    void Wait() override {
      ranks->Finish(what, [this] { return work; });
    }
  };

  template <typename Start>
  void Finish(const char* what, Start start) {
    watchdog_.Begin(what);
    signs_->BeginWaiting();
    try {
      c10::intrusive_ptr<c10d::Work> work = start();
      const bool done = work->wait();
      watchdog_.End();
      signs_->EndWaiting();
      if (!done) Fail(what, "it was aborted");
    } catch (const ExchangeError&) {
      throw;
    } catch (const std::exception& e) {
      watchdog_.End();
      Fail(what, e.what());
    }
  }

  [[noreturn]] void Fail(const char* what, const std::string& why) {
    const std::string told = ToldFailure();
    if (!told.empty()) throw ExchangeError(absl::StrCat(told, " (rank ", world_rank_, " ends with it)"));
    std::string who = signs_->WhoIsMissing();
    if (who.empty()) {
      who =
          absl::StrCat("another rank has ended, or has not answered within ", absl::FormatDuration(timeout_));
    }
    throw ExchangeError(
        absl::StrCat(what, " failed on rank ", world_rank_, ": ", who, " (", FirstLine(why), ")"));
  }

  int rank_, size_;
  int world_rank_, local_rank_;
  std::string name_;
  absl::Duration timeout_;
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::Backend> backend_;
  std::shared_ptr<RankSigns> signs_;  // of all ranks, in groups of some too
  ExchangeWatchdog watchdog_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RankGroup>> RankGroup::Make(const LaunchPlace& place,
                                                           const RankGroupOptions& options) {
  std::string name = options.backend;
  if (name == "auto") name = "gloo";
  if (name != "gloo" && name != "mpi" && name != "nccl") {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no backend '", name, "'; there are auto, gloo, nccl and mpi"));
  }
  if (place.world_size == 1 && options.backend == "auto") return std::make_unique<OneRank>();
  static std::once_flag quiet;
  std::call_once(quiet, [] { c10::initLogging(); });  // reads TORCH_CPP_LOG_LEVEL
  const std::stop_callback end_at_once(options.stop, [rank = place.rank] {
    std::fprintf(stderr, "waymark-train: rank %d: stopped before the ranks had met\n", rank);
    std::fflush(stderr);
    std::_Exit(1);
  });
  BackendRequest request;
  request.rank = place.rank;
  request.size = place.world_size;
  request.local_rank = place.local_rank;
  request.timeout = Millis(options.timeout);
  if (name != "mpi") {
    LaunchPlace meeting = place;
    if (meeting.host.empty()) {  // one rank with a backend that was asked for
      meeting.host = "127.0.0.1";
      meeting.port = 0;
    }
    try {
      request.store = MeetAtStore(meeting, Millis(options.timeout));
    } catch (const std::exception& e) {
      return absl::UnavailableError(
          absl::StrCat("rank ", place.rank, " cannot ",
                       place.rank == 0 && !place.agent_store ? "listen" : "reach the others", " at ",
                       meeting.host, ":", meeting.port, " within ", absl::FormatDuration(options.timeout),
                       ": ", FirstLine(e.what()), UnresolvedHost(meeting.host)));
    }
  }
  try {
    return std::make_unique<BackendRanks>(place, name, options.timeout, request.store,
                                          MakeBackend(name, request));
  } catch (const std::exception& e) {
    const std::string why = FirstLine(e.what());
    if (absl::StrContains(why, "backend '")) return absl::FailedPreconditionError(why);
    return absl::UnavailableError(absl::StrCat(
        "the ", place.world_size, " ranks do not come together (rank ", place.rank, ", ", name, ", within ",
        absl::FormatDuration(options.timeout), "): ", why, MissingRanks(request.store, place.world_size)));
  }
}

}  // namespace waymark
