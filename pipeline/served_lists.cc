#include "pipeline/served_lists.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

class ScopeSink : public ServedSink {
 public:
  ScopeSink(ServedLog* log, Scope scope, double sample_rate)
      : log_(log), scope_(scope), sample_rate_(sample_rate) {}

  void Served(storage::ServeRecord record) override { log_->Append(scope_, std::move(record)); }

  // Request ids are random, so their digits decide, and the decision can be made again from the record.
  bool Sampled(const std::string& request_id) const override {
    if (request_id.size() < 8) return false;
    uint64_t digits = 0;
    for (size_t i = 0; i < 8; ++i) {
      const char c = request_id[i];
      digits = digits * 16 + static_cast<uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return static_cast<double>(digits) < sample_rate_ * 4294967296.0;
  }
  double sample_rate() const override { return sample_rate_; }

  absl::Status EraseUsers(absl::Span<const UserNumber> users) override {
    return log_->RemoveUsers(scope_, users);
  }

  absl::Status ForEach(absl::Time not_before,
                       const std::function<bool(const storage::ServeRecord&)>& visit) override {
    // What could not be written is counted as dropped there; the rest can be read.
    (void)log_->Flush();
    return log_->ForEach(scope_, std::max(not_before, absl::UnixEpoch()), visit);
  }

 private:
  ServedLog* log_;
  Scope scope_;
  double sample_rate_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ServedLists>> ServedLists::Open(const std::filesystem::path& data,
                                                               double sample_rate, const Clock* clock) {
  if (!(sample_rate >= 0 && sample_rate <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("served_sample_rate: is ", sample_rate, "; it takes 0 to 1"));
  }
  ServedLogOptions options;
  options.clock = clock;
  auto log = ServedLog::Open(data, options);
  if (!log.ok()) return log.status();
  return std::unique_ptr<ServedLists>(new ServedLists(*std::move(log), sample_rate));
}

std::unique_ptr<ServedSink> ServedLists::SinkOf(Scope scope) {
  return std::make_unique<ScopeSink>(log_.get(), scope, sample_rate_);
}

}  // namespace waymark
