// Scores copies of requests with the releases of experiments in the shadow: on a thread of its own, after the
// request was answered, behind a bounded queue. What finds it full is skipped and counted, so that the shadow
// never costs more than one core and no answer waits for it.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "experiment/experiments.h"
#include "pipeline/request.h"

namespace waymark {

struct HostedExperiments;

// Thread-safe.
class ShadowRunner {
 public:
  struct Copy {
    HostedExperiments* hosted = nullptr;  // lives longer than the runner's thread
    PipelineRequest request;
    std::vector<Experiments::Shadow> shadows;
    ShadowAnswer served;
    std::vector<ItemOrdinal> drawn;  // by chance, so neither list is compared by them
  };

  // `violated` is called when a guardrail looks violated.
  explicit ShadowRunner(std::function<void(HostedExperiments*)> violated) : violated_(std::move(violated)) {}
  ~ShadowRunner() { Stop(); }
  void Start();
  // What is queued is dropped.
  void Stop();
  // Never waits.
  void Offer(Copy copy);

 private:
  void Run();
  void Score(const Copy& copy);

  const std::function<void(HostedExperiments*)> violated_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;       // under mutex_
  std::deque<Copy> queue_;  // under mutex_
  std::thread thread_;
};

}  // namespace waymark
