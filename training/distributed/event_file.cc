#include "training/distributed/event_file.h"

#include <unistd.h>

#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "training/shards/record_frames.h"
#include "waymark/storage/training.pb.h"

namespace waymark {
namespace {

double WallSeconds() { return absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()); }

void AppendEvent(const storage::EventFileRecord& event, std::ofstream* out) {
  std::string framed;
  AppendRecord(event.SerializeAsString(), &framed);
  *out << framed << std::flush;
}

}  // namespace

absl::Status EventFile::Open(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  char host[256] = "host";
  gethostname(host, sizeof(host) - 1);
  file_ = folder / absl::StrFormat("events.out.tfevents.%010d.%s.%d", static_cast<int64_t>(WallSeconds()),
                                   host, static_cast<int>(getpid()));
  out_.open(file_, std::ios::binary | std::ios::trunc);
  if (!out_) return absl::UnavailableError(absl::StrCat("cannot write ", file_.string()));
  storage::EventFileRecord first;
  first.set_wall_time(WallSeconds());
  first.set_file_version("brain.Event:2");
  AppendEvent(first, &out_);
  return absl::OkStatus();
}

void EventFile::Add(int64_t step, const std::vector<std::pair<std::string, double>>& values) {
  if (!out_.is_open()) return;
  storage::EventFileRecord event;
  event.set_wall_time(WallSeconds());
  event.set_step(step);
  for (const auto& [tag, value] : values) {
    auto* out = event.mutable_summary()->add_value();
    out->set_tag(tag);
    out->set_simple_value(static_cast<float>(value));
  }
  AppendEvent(event, &out_);
}

absl::Status EventFile::Close() {
  if (!out_.is_open()) return absl::OkStatus();
  out_.close();
  return out_ ? absl::OkStatus()
              : absl::UnavailableError(absl::StrCat(file_.string(), " was not written whole"));
}

}  // namespace waymark
