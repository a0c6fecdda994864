#include "training/distributed/rank_times.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "recommend/network/counter_random.h"

namespace waymark {
namespace {

// A number that ranks of the same machine have alike, in whatever containers they are.
double ThisMachine() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return static_cast<double>(MixBits(std::hash<std::string>()(boot)) >>
                             12);  // as many bits as a double holds
}

double OwnCores() { return std::thread::hardware_concurrency(); }

}  // namespace

void GatherTimes(RankGroup* group, const StepTimes& own, int own_threads, JobResult* result) {
  const std::vector<double> values = {own.wait,          own.data,      own.forward,     own.backward,
                                      own.communication, own.optimizer, own.divided_cpu, own.own_cpu,
                                      ThisMachine(),     OwnCores()};
  const int64_t width = static_cast<int64_t>(values.size());
  at::Tensor numbers = at::empty({width}, at::kDouble);
  std::copy(values.begin(), values.end(), numbers.data_ptr<double>());
  const at::Tensor all = group->Gather(numbers).contiguous();
  std::map<double, std::pair<int, int>> machines;  // -> threads, cores
  for (int r = 0; r < group->size(); ++r) {
    const double* v = all.data_ptr<double>() + width * r;
    result->times.push_back({v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]});
    result->train_seconds += result->times.back().All() / group->size();
    auto& [threads, cores] = machines[v[8]];
    threads += own_threads;
    cores = static_cast<int>(v[9]);
  }
  for (const auto& [machine, used] : machines) {
    const auto& [threads, cores] = used;
    const bool less = threads * result->machine_cores < result->machine_threads * cores;
    if (result->machine_cores > 0 && less) continue;
    result->machine_threads = threads;
    result->machine_cores = cores;
  }
}

}  // namespace waymark
