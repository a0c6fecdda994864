#include "serving/shadow_runner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "serving/answer_measure.h"
#include "serving/experiment_host.h"

namespace waymark {
namespace {

// A second or so of copies; older ones say nothing more of the traffic.
constexpr size_t kQueueLimit = 64;
constexpr absl::Duration kPatience = absl::Seconds(2);

PipelineRequest RequestFor(const PipelineRequest& answered, const std::string& release) {
  PipelineRequest request = answered;
  request.copy = true;
  request.release = release;
  request.arm_release.clear();
  request.arm.clear();
  request.rival_releases.clear();
  request.interleave = nullptr;
  request.request_id.clear();
  request.consistency_token.clear();  // the answer has waited for it
  request.explain = false;
  request.exploration = 0;  // what is drawn says nothing of the release
  return request;
}

// None: the release is not loaded, or the request can't be answered by anybody.
std::optional<ShadowAnswer> ScoreOne(Collection* collection, const PipelineRequest& request) {
  const absl::Time start = absl::Now();
  const auto answer = collection->Run(request, Deadline::After(kPatience));
  const auto measured = MeasureAnswer(collection->catalog(), answer, absl::Now() - start);
  if (!measured) return std::nullopt;
  ShadowAnswer scored{.measured = *measured};
  if (!answer.ok()) return scored;
  for (const RankedItem& item : answer->items) scored.items.push_back(item.item);
  return scored;
}

}  // namespace

void ShadowRunner::Start() {
  thread_ = std::thread([this] { Run(); });
}

void ShadowRunner::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ShadowRunner::Offer(Copy copy) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stop_) return;
    if (queue_.size() < kQueueLimit) {
      queue_.push_back(std::move(copy));
      wake_.notify_one();
      return;
    }
  }
  for (const Experiments::Shadow& shadow : copy.shadows)
    copy.hosted->experiments->SkipShadow(shadow.experiment);
}

void ShadowRunner::Run() {
  while (true) {
    Copy copy;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !queue_.empty(); });
      if (stop_) return;
      copy = std::move(queue_.front());
      queue_.pop_front();
    }
    Score(copy);
  }
}

void ShadowRunner::Score(const Copy& copy) {
  Experiments& experiments = *copy.hosted->experiments;
  for (const Experiments::Shadow& shadow : copy.shadows) {
    std::vector<ShadowAnswer> scored;
    for (const std::string& release : shadow.releases) {
      auto one = ScoreOne(copy.hosted->collection, RequestFor(copy.request, release));
      if (!one) break;
      std::erase_if(one->items, [&](ItemOrdinal item) {
        return std::find(copy.drawn.begin(), copy.drawn.end(), item) != copy.drawn.end();
      });
      scored.push_back(*std::move(one));
    }
    if (scored.size() < shadow.releases.size()) {
      experiments.SkipShadow(shadow.experiment);
    } else if (experiments.RecordShadow(shadow.experiment, copy.served, scored)) {
      violated_(copy.hosted);
    }
  }
}

}  // namespace waymark
