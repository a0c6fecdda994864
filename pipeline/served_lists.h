// What the pipeline served, into the store's log of served lists; a declared share of requests keeps its
// candidates and features too.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "pipeline/pipeline.h"
#include "store/served_log.h"

namespace waymark {

// Thread-safe.
class ServedLists {
 public:
  // INVALID_ARGUMENT: a share outside 0..1.
  static absl::StatusOr<std::unique_ptr<ServedLists>> Open(const std::filesystem::path& data,
                                                           double sample_rate, const Clock* clock);
  // Of one collection; lives as long as this.
  std::unique_ptr<ServedSink> SinkOf(Scope scope);
  int64_t dropped() const { return log_->dropped(); }
  const ServedLog& log() const { return *log_; }

 private:
  ServedLists(std::unique_ptr<ServedLog> log, double sample_rate)
      : log_(std::move(log)), sample_rate_(sample_rate) {}
  std::unique_ptr<ServedLog> log_;
  double sample_rate_;
};

}  // namespace waymark
