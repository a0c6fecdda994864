#include "suggest/suggestion_worker.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "store/event_types.h"

namespace waymark {
namespace {

constexpr size_t kLogBatch = 4096, kBatchesPerRound = 32;
constexpr size_t kServedPerRound = 100'000;
// Served records are written a moment after their time.
constexpr absl::Duration kServedSlack = absl::Seconds(30);
// Upkeep takes at most this share of a core: after work that took t, the next waits for t / share.
constexpr double kTailShare = 0.25, kBuildShare = 0.05, kQueriesShare = 0.05;
constexpr absl::Duration kQueriesInterval = absl::Seconds(2), kTriedAgain = absl::Minutes(10);
// Weights fade, and what is past its time is forgotten, also where nobody asks anything.
constexpr absl::Duration kShownAgain = absl::Hours(1);
constexpr size_t kTriesPerRound = 200;

}  // namespace

SuggestionWorker::SuggestionWorker(const SuggestionParts* parts, const SuggestionOptions* options,
                                   Publish publish)
    : parts_(*parts),
      options_(*options),
      publish_(std::move(publish)),
      folder_(SuggestFolder(parts->lists.store->data_folder(), parts->lists.scope)),
      queries_(options->queries) {}

SuggestionWorker::~SuggestionWorker() {
  stop_ = true;
  if (build_ != nullptr) build_->thread.join();
}

void SuggestionWorker::Open() {
  const LogOffset end = parts_.lists.store->End();
  fields_ = SuggestedFieldsOf(*parts_.lists.catalog->schema());
  auto lists = LoadLists(folder_);
  if (lists.ok() && (*lists)->position <= end && (*lists)->fields == fields_) {
    main_ = *std::move(lists);
    position_ = main_->position;
  } else if (!lists.ok()) {
    rebuild_reason_ = SetAsideFile(folder_, kListsFile, lists.status());
  }
  auto reach = LoadQueries(folder_, &queries_);
  if (!reach.ok() || reach->position > end) {
    const std::string reason = reach.ok() ? "" : SetAsideFile(folder_, kQueriesFile, reach.status());
    if (!reason.empty()) rebuild_reason_ = reason;
    queries_.Clear();
    reach = QueriesReach();
  }
  served_us_ = reach->served_us;
  if (!rebuild_reason_.empty()) {
    spdlog::warn("suggestions_rebuilt folder={} reason=\"{}\"", folder_.string(), rebuild_reason_);
  }
  // Without lists the items are read from the store, and the log for the queries alone.
  position_ = main_ == nullptr ? reach->position : std::min(position_, reach->position);
  weighed_ = Now();
}

absl::StatusOr<bool> SuggestionWorker::Round(bool eager) {
  if (auto status = TakeBuild(); !status.ok()) return status;
  if (main_ == nullptr && build_ == nullptr) {
    if (auto status = KeepLists(eager); !status.ok()) return status;
  }
  auto more_log = ReadLog();
  if (!more_log.ok()) return more_log;
  auto more_served = ReadServed(eager);
  if (!more_served.ok()) return more_served;
  // After the log: an item is written under a schema that knows its fields.
  fields_ = SuggestedFieldsOf(*parts_.lists.catalog->schema());
  if (auto status = MakeTail(eager); !status.ok()) return status;
  if (auto status = KeepLists(eager); !status.ok()) return status;
  auto more_queries = KeepQueries(eager);
  PublishAll();
  if (!more_queries.ok()) return more_queries;
  if (erasure_unsaved_) {
    if (auto status = Checkpoint(); !status.ok()) return status;
  }
  return *more_log || *more_served || *more_queries;
}

absl::StatusOr<bool> SuggestionWorker::ReadLog() {
  types_ = parts_.lists.store->GetEventTypes(parts_.lists.scope);
  for (size_t batch = 0; batch < kBatchesPerRound && !stop_; ++batch) {
    size_t read = 0;
    auto end = parts_.lists.store->Read(parts_.lists.scope, position_, kLogBatch, [&](const Change& change) {
      Take(change);
      ++read;
      return absl::OkStatus();
    });
    if (!end.ok()) return end.status();
    queries_unsaved_ = queries_unsaved_ || *end > position_;
    position_ = *end;
    if (read < kLogBatch) return false;
  }
  return true;
}

void SuggestionWorker::Take(const Change& change) {
  if (change.entry.has_event()) return TakeEvent(change.entry.event());
  if (change.entry.has_erasure()) {
    erased_.push_back(change.entry.erasure().user());
    return;
  }
  if (!change.entry.has_item()) return;
  const storage::ItemChange& item = change.entry.item();
  if (change.offset <= (main_ == nullptr ? build_floor_ : main_->position)) return;
  const bool shown = item.all() || std::any_of(item.changed_fields().begin(), item.changed_fields().end(),
                                               [this](const std::string& name) { return fields_.Has(name); });
  if (!shown) return;
  changed_[item.ordinal()] = change.offset;
  tail_stale_ = true;
}

void SuggestionWorker::TakeEvent(const storage::EventRecord& event) {
  if (event.type() == event_code::kIdentify && event.user() != 0 && event.visitor() != 0) {
    joined_[event.visitor()] = event.user();
  }
  if (event.type() != event_code::kSearch) return TakeFollowing(event);
  if (event.query().empty()) return;
  // A client's clock that runs ahead must not keep its queries fresh.
  const int64_t time_us = std::min(event.time_us(), event.received_time_us());
  queries_.Add(event.query(), PersonOf(event), absl::FromUnixMicros(time_us));
}

// What somebody did with an item, after a search that the event names by its words or its request.
void SuggestionWorker::TakeFollowing(const storage::EventRecord& event) {
  if (event.items().empty() || (event.query().empty() && event.request_id().empty())) return;
  const EventType* type = types_.Find(event.type());
  if (type == nullptr || type->sign != EventSign::kPositive) return;
  if (!event.query().empty()) queries_.Follow(event.query(), PersonOf(event));
  if (event.request_id().empty()) return;
  if (const auto search = followed_.Followed(event.request_id()))
    queries_.Follow(search->query, PersonOf(search->user));
}

UserNumber SuggestionWorker::PersonOf(UserNumber user) const {
  auto record = parts_.lists.store->GetUser(parts_.lists.scope, user);
  return record.ok() && record->joined_to() != 0 ? record->joined_to() : user;
}

absl::StatusOr<bool> SuggestionWorker::ReadServed(bool eager) {
  if (!parts_.served || (!eager && Now() < next_served_)) return false;
  next_served_ = Now() + options_.served_interval;
  size_t read = 0;
  const int64_t before_us = served_us_;
  const absl::Time from = absl::FromUnixMicros(before_us) - kServedSlack;
  auto status = parts_.served(std::max(from, absl::UnixEpoch()), [&](const storage::ServeRecord& record) {
    served_us_ = std::max(served_us_, record.time_us());
    ++read;
    if (record.total_size() > 0 && !record.query().empty()) {
      UserNumber user = record.user();
      auto known = parts_.lists.store->GetUser(parts_.lists.scope, user);
      if (known.ok() && known->joined_to() != 0) user = known->joined_to();
      // Whom the store does not know has been erased since.
      if (known.ok()) {
        queries_.Add(record.query(), user, absl::FromUnixMicros(record.time_us()));
        if (followed_.Served(record.request_id(), record.query(), user))
          queries_.Follow(record.query(), user);
      }
    }
    return !stop_ && (read < kServedPerRound || served_us_ <= before_us);
  });
  if (!status.ok()) return status;
  queries_unsaved_ = queries_unsaved_ || served_us_ > before_us;
  return read >= kServedPerRound;
}

void SuggestionWorker::StartBuild(
    std::function<absl::StatusOr<std::shared_ptr<const SuggestionLists>>()> make) {
  build_ = std::make_unique<Build>();
  build_started_ = absl::Now();
  build_->thread = std::thread([build = build_.get(), make = std::move(make)] {
    auto made = make();
    absl::MutexLock lock(&build->mutex);
    build->made = std::move(made);
    build->done = true;
  });
}

absl::Status SuggestionWorker::TakeBuild() {
  if (build_ == nullptr) return absl::OkStatus();
  {
    absl::MutexLock lock(&build_->mutex);
    if (!build_->done) return absl::OkStatus();
  }
  build_->thread.join();
  const std::unique_ptr<Build> build = std::move(build_);
  next_build_ = absl::Now() + (absl::Now() - build_started_) / kBuildShare;
  if (!build->made.ok()) return build->made.status();
  if (*build->made == nullptr) return absl::OkStatus();  // stopped
  main_ = *std::move(build->made);
  main_unsaved_ = true;
  weighed_ = Now();
  absl::erase_if(changed_, [&](const auto& change) { return change.second <= main_->position; });
  tail_stale_ = true;
  next_tail_ = absl::InfinitePast();
  return absl::OkStatus();
}

absl::Status SuggestionWorker::KeepLists(bool eager) {
  if (build_ != nullptr) return absl::OkStatus();
  const auto stop = [this] { return stop_.load(); };
  if (main_ == nullptr || main_->fields != fields_) {
    // What is served until then has the fields of before.
    build_floor_ = parts_.lists.store->End();
    StartBuild([this, stop, fields = fields_] { return MakeLists(parts_.lists, fields, stop); });
    return absl::OkStatus();
  }
  const bool large = changed_.size() > options_.tail_items;
  const bool old = Now() - weighed_ >= options_.weights_interval && position_ > main_->position;
  if (!(large || old) || tail_stale_ || (!eager && absl::Now() < next_build_)) return absl::OkStatus();
  auto merged = std::make_shared<SuggestionLists>();
  if (tail_ == nullptr) {  // only weights have changed
    merged->fields = main_->fields;
    for (const FieldList& field : main_->titles)
      merged->titles.push_back({field.field, CompletionList::Build({})});
  } else {
    *merged = *tail_;
  }
  merged->position = tail_position_;
  auto changed =
      changed_shown_ == nullptr ? std::make_shared<const absl::flat_hash_set<ItemOrdinal>>() : changed_shown_;
  StartBuild([this, stop, main = main_, merged,
              changed]() -> absl::StatusOr<std::shared_ptr<const SuggestionLists>> {
    return MergeLists(parts_.lists, *main, *merged, *changed, stop);
  });
  return absl::OkStatus();
}

absl::Status SuggestionWorker::MakeTail(bool eager) {
  // Lists of other fields show what they showed until new ones are there.
  if (main_ == nullptr || main_->fields != fields_) return absl::OkStatus();
  if (!tail_stale_) {
    tail_position_ = position_;
    return absl::OkStatus();
  }
  if (!eager && absl::Now() < next_tail_) return absl::OkStatus();
  const absl::Time start = absl::Now();
  if (changed_.empty()) {
    tail_ = nullptr;
    changed_shown_ = nullptr;
  } else {
    auto shown = std::make_shared<absl::flat_hash_set<ItemOrdinal>>();
    std::vector<ItemOrdinal> items;
    for (const auto& [item, offset] : changed_) {
      items.push_back(item);
      shown->insert(item);
    }
    std::sort(items.begin(), items.end());
    auto made = MakeListsOf(parts_.lists, main_->fields, items);
    if (!made.ok()) return made.status();
    tail_ = *std::move(made);
    changed_shown_ = std::move(shown);
  }
  tail_stale_ = false;
  tail_position_ = position_;
  next_tail_ = absl::Now() + (absl::Now() - start) / kTailShare;
  return absl::OkStatus();
}

absl::StatusOr<bool> SuggestionWorker::KeepQueries(bool eager) {
  erasure_unsaved_ = erasure_unsaved_ || !erased_.empty();
  const bool erasing = !erased_.empty();
  queries_.Join(joined_);
  queries_.Forget(erased_);
  followed_.Forget(erased_);
  joined_.clear();
  erased_.clear();
  if (!eager && !erasing && Now() < next_queries_) return false;
  const absl::Time now = Now(), start = absl::Now();
  // Trying may wait for the index; an erasure does not.
  std::vector<std::string> due;
  if (!erasing) due = queries_.Unchecked(now - kTriedAgain, kTriesPerRound);
  absl::Status tried;  // what cannot be tried must not keep what was erased
  for (const std::string& query : due) {
    if (stop_) break;
    auto finds = parts_.finds(query, position_);
    if (!finds.ok()) {
      tried = finds.status();
      break;
    }
    queries_.SetFinds(query, *finds, now);
  }
  queries_stale_ = queries_.TakeChanged() || queries_stale_ || now >= shown_again_;
  if (queries_stale_) {
    std::vector<CompletionSource> sources;
    absl::flat_hash_map<std::string, uint32_t> users;
    for (PastQuery& query : queries_.Shown(now)) {
      users[query.query] = static_cast<uint32_t>(query.users);
      sources.push_back({std::move(query.query), static_cast<float>(query.weight), kNoItem});
    }
    QueryList fresh;
    fresh.list = CompletionList::Build(std::move(sources));
    for (CompletionEntry e = 0; e < fresh.list->entry_count(); ++e)
      fresh.users.push_back(users[std::string(fresh.list->text(e))]);
    query_list_ = std::move(fresh);
    queries_stale_ = false;
    shown_again_ = now + kShownAgain;
  }
  next_queries_ = now + std::max(kQueriesInterval, (absl::Now() - start) / kQueriesShare);
  if (!tried.ok()) return tried;
  return due.size() == kTriesPerRound;
}

void SuggestionWorker::PublishAll() {
  if (main_ == nullptr) return;
  auto snapshot = std::make_shared<SuggestionSnapshot>();
  snapshot->main = main_;
  snapshot->tail = tail_;
  snapshot->changed = changed_shown_;
  snapshot->queries = query_list_;
  snapshot->position = tail_position_;
  publish_(std::move(snapshot));
}

absl::Status SuggestionWorker::Checkpoint() {
  if (options_.read_only) return absl::OkStatus();
  if (main_ != nullptr) {
    // Where no item has changed since, the lists are those of now.
    if (changed_.empty() && position_ > main_->position) {
      auto moved = std::make_shared<SuggestionLists>(*main_);
      moved->position = position_;
      main_ = std::move(moved);
      main_unsaved_ = true;
    }
    if (main_unsaved_) {
      if (auto status = SaveLists(folder_, *main_); !status.ok()) return status;
      main_unsaved_ = false;
    }
  }
  if (queries_unsaved_ || erasure_unsaved_) {
    if (auto status = SaveQueries(folder_, queries_, {position_, served_us_}); !status.ok()) return status;
    if (erasure_unsaved_) {
      if (auto status = RemoveSetAside(folder_, kQueriesFile); !status.ok()) return status;
    }
    queries_unsaved_ = erasure_unsaved_ = false;
  }
  return absl::OkStatus();
}

}  // namespace waymark
