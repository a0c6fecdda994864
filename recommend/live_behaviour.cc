#include "recommend/live_behaviour.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "recommend/checked_file.h"

namespace waymark {
namespace {

constexpr size_t kReplayBatch = 4096;
// A tail that is longer than this and than half the log is not worth replaying event by event.
constexpr LogOffset kLongTail = 50000;

}  // namespace

LiveBehaviour::LiveBehaviour(const Store* store, Scope scope, const LiveBehaviourOptions& options)
    : store_(store),
      scope_(scope),
      options_(options),
      folder_(store->data_folder() / "recommend" / absl::StrCat(scope.tenant, "-", scope.collection)),
      histories_(
          std::make_unique<RecentHistories>(store, scope, static_cast<size_t>(options.counts.window))) {}

LiveBehaviour::~LiveBehaviour() = default;

absl::StatusOr<std::unique_ptr<LiveBehaviour>> LiveBehaviour::Open(const Store* store, Scope scope,
                                                                   const LiveBehaviourOptions& options) {
  std::unique_ptr<LiveBehaviour> behaviour(new LiveBehaviour(store, scope, options));
  if (absl::Status s = behaviour->OpenCounts(); !s.ok()) return s;
  if (absl::Status s = behaviour->Replay(); !s.ok()) return s;
  LogOffset ease_position = 0;
  auto ease = Ease::Open(behaviour->folder_ / "ease", options.ease, &ease_position);
  if (ease.ok()) {
    std::lock_guard lock(behaviour->ease_mutex_);
    behaviour->ease_ = *std::move(ease);
  } else if (!absl::IsNotFound(ease.status())) {
    behaviour->NotUsed("ease", ease.status());
  }
  return behaviour;
}

void LiveBehaviour::NotUsed(const std::string& file, const absl::Status& why) {
  rebuild_reason_ = std::string(why.message());
  const std::string aside = absl::IsDataLoss(why) ? SetAsideDamaged(folder_ / file) : "nothing";
  spdlog::warn("behaviour_rebuilt file={} reason=\"{}\" set_aside={}", (folder_ / file).string(),
               rebuild_reason_, aside);
}

absl::Status LiveBehaviour::OpenCounts() {
  LogOffset position = 0;
  auto opened = BehaviourCounts::Open(folder_ / "counts", options_.counts, &position);
  const LogOffset end = store_->End();
  if (!opened.ok()) {
    if (!absl::IsNotFound(opened.status())) NotUsed("counts", opened.status());
    return Rebuild();
  }
  if (position > end) {
    NotUsed("counts", absl::FailedPreconditionError(
                          absl::StrCat("they are of log position ", position, ", the log ends at ", end)));
    return Rebuild();
  }
  if (end - position > std::max(kLongTail, end / 2)) return Rebuild();
  counts_ = *std::move(opened);
  reach_.Set(position);
  return absl::OkStatus();
}

absl::Status LiveBehaviour::Rebuild() {
  const LogOffset end = store_->End();
  auto interactions = ReadInteractions(*store_, scope_, end);
  if (!interactions.ok()) return interactions.status();
  counts_ = std::make_shared<BehaviourCounts>(options_.counts);
  counts_->AddAll(*interactions);
  reach_.Set(end);
  return absl::OkStatus();
}

absl::Status LiveBehaviour::Replay() {
  std::vector<Change> changes;
  while (position() < store_->End()) {
    changes.clear();
    const auto collect = [&](const Change& change) {
      changes.push_back(change);
      return absl::OkStatus();
    };
    const LogOffset before = position();
    auto read = store_->Read(scope_, before, kReplayBatch, collect, kBehaviourChanges);
    if (!read.ok()) return read.status();
    if (*read <= before) break;
    Apply(changes, *read);
  }
  return absl::OkStatus();
}

void LiveBehaviour::Apply(absl::Span<const Change> changes, LogOffset up_to) {
  const EventTypes types = store_->GetEventTypes(scope_);
  std::lock_guard lock(apply_mutex_);
  LogOffset reached = position();
  for (const Change& change : changes) {
    if (change.offset <= reached) continue;
    Take(change, types);
    reached = change.offset;
  }
  reach_.Set(std::max(reached, up_to));
}

void LiveBehaviour::Take(const Change& change, const EventTypes& types) {
  if (change.entry.has_erasure()) histories_->Forget(change.entry.erasure().user());
  if (!change.entry.has_event()) return;
  const storage::EventRecord& event = change.entry.event();
  if (event.type() == event_code::kIdentify) {
    histories_->Forget(event.user());
    histories_->Forget(event.visitor());
  }
  const EventType* type = types.Find(event.type());
  if (type == nullptr || type->sign != EventSign::kPositive) return;
  const UserNumber user = event.user() != 0 ? event.user() : event.visitor();
  for (int i = 0; i < event.items_size(); ++i) {
    const HistoryLine line{event.time_us(), change.offset, static_cast<uint32_t>(i), event.items(i).item()};
    HistoryPlaceOf place;
    // In a log segment that was sealed for erasure nobody is named: the item alone is counted.
    if (user != 0) place = histories_->Insert(user, line, types);
    // A client's clock that runs ahead must not make its items more popular than what happens now.
    const int64_t counted_us = std::min(event.time_us(), event.received_time_us());
    counts_->AddBetween(place.before, line.item, place.after, absl::FromUnixMicros(counted_us));
  }
}

absl::Status LiveBehaviour::Checkpoint() {
  std::lock_guard lock(apply_mutex_);
  return counts_->Save(folder_ / "counts", position());
}

std::shared_ptr<const Ease> LiveBehaviour::ease() const {
  std::lock_guard lock(ease_mutex_);
  return ease_;
}

bool LiveBehaviour::EaseIsStale() const {
  std::lock_guard lock(ease_mutex_);
  if (ease_too_large_) return false;
  const uint64_t events = counts_->event_count();
  return ease_ == nullptr ? events > 0 : events > ease_->events() + ease_->events() / 10;
}

absl::Status LiveBehaviour::RefreshEase() {
  std::lock_guard building(ease_build_mutex_);
  const LogOffset end = store_->End();
  auto interactions = ReadInteractions(*store_, scope_, end);
  if (!interactions.ok()) return interactions.status();
  auto ease = Ease::Build(*interactions, options_.ease);
  {
    std::lock_guard lock(ease_mutex_);
    if (!ease.ok()) {
      // Items are never fewer again: their ordinals stay.
      ease_too_large_ = absl::IsResourceExhausted(ease.status());
      if (ease_too_large_) ease_ = nullptr;
      return ease.status();
    }
    ease_ = *ease;
  }
  return (*ease)->Save(folder_ / "ease", end);
}

}  // namespace waymark
