// Seconds since it was made or last asked, by the wall clock, and those that this thread was at work.
//
//   Lap lap;
//   times.forward += lap(&times.own_cpu);
#pragma once
#include <chrono>
#include <ctime>
#include <utility>

namespace waymark {

class Lap {
 public:
  double operator()(double* cpu = nullptr) {
    const auto wall = std::exchange(wall_, std::chrono::steady_clock::now());
    const double worked = std::exchange(cpu_, ThreadSeconds());
    if (cpu != nullptr) *cpu += cpu_ - worked;
    return std::chrono::duration<double>(wall_ - wall).count();
  }

 private:
  static double ThreadSeconds() {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  double cpu_ = ThreadSeconds();
};

}  // namespace waymark
