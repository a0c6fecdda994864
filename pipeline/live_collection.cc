#include "pipeline/live_collection.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <future>

#include "absl/strings/str_cat.h"
#include "catalog/schema_merge.h"

namespace waymark {
namespace {

// Changes that a follower takes in at once.
constexpr size_t kFollowBatch = 2000;
// Between two looks whether the closed-form model is stale.
constexpr std::chrono::seconds kEaseInterval(60);

}  // namespace

LiveCollection::LiveCollection(Store* store, Scope scope, const CollectionName& name,
                               const EngineOptions& options)
    : store_(store), scope_(scope), name_(name), options_(options) {}

absl::StatusOr<std::unique_ptr<LiveCollection>> LiveCollection::Open(Store* store, Scope scope,
                                                                     const CollectionName& name,
                                                                     const EngineOptions& options,
                                                                     const SigningKey* key,
                                                                     std::unique_ptr<ServedSink> served) {
  std::unique_ptr<LiveCollection> collection(new LiveCollection(store, scope, name, options));
  collection->served_ = std::move(served);
  if (auto status = collection->Start(key); !status.ok()) return status;
  return collection;
}

absl::Status LiveCollection::Start(const SigningKey* key) {
  KeywordIndexOptions index_options;
  index_options.refresh_interval = options_.index_refresh_interval;
  // The two that take long, side by side.
  auto loading =
      std::async(std::launch::async, [&] { return KeywordIndex::Load(store_, scope_, index_options); });
  auto catalog = Catalog::Open(store_, scope_);
  auto index = loading.get();
  if (!catalog.ok()) return catalog.status();
  catalog_ = *std::move(catalog);
  items_ = std::make_unique<CatalogDirectory>(store_, scope_, catalog_.get());
  if (!index.ok()) return index.status();
  index_ = *std::move(index);
  index_->Start(catalog_.get());
  auto curation = LiveCuration::Open(store_, scope_, catalog_.get());
  if (!curation.ok()) return curation.status();
  curation_ = *std::move(curation);
  auto behaviour = LiveBehaviour::Open(store_, scope_, {});
  if (!behaviour.ok()) return behaviour.status();
  behaviour_ = *std::move(behaviour);
  auto vectors = FieldVectors::Open(store_, scope_, catalog_->schema(), {});
  if (!vectors.ok()) return vectors.status();
  field_vectors_ = *std::move(vectors);
  admission_ = std::make_unique<ItemAdmission>(store_, scope_, catalog_.get(), options_.clock, &growing_);
  user_admission_ = std::make_unique<UserAdmission>(store_, scope_, options_.clock, &growing_);
  registry_ = std::make_unique<ModelRegistry>(store_, scope_, items_.get(), options_.clock);
  loader_ = std::make_unique<ReleaseLoader>(store_, scope_, items_.get(), registry_.get(), behaviour_.get(),
                                            options_.model_memory_limit_bytes);
  PipelineParts parts{store_, scope_, catalog_.get(), index_.get(), curation_.get(), field_vectors_.get()};
  parts.asked_instead = [this](const std::string& query, Deadline deadline) {
    return suggestions_ == nullptr ? std::string() : suggestions_->AskedInstead(query, deadline);
  };
  parts.first_events = [counts = behaviour_->counts()](absl::Span<const ItemOrdinal> items,
                                                       absl::Span<absl::Time> times) {
    counts->FirstEvents(items, times);
  };
  parts.clock = options_.clock;
  parts.key = key;
  parts.served = served_.get();
  pipeline_ = std::make_unique<Pipeline>(std::move(parts));
  if (auto status = LoadActive(); !status.ok()) return status;
  OpenSuggestions();
  follower_ = std::thread([this] { Follow(); });
  if (!options_.read_only) {
    checkpointer_ = std::make_unique<Checkpointer>(
        absl::StrCat(name_.tenant, "/", name_.collection), options_.checkpoint, catalog_->replayed_changes(),
        [this] { return catalog_->live_count(); }, [this] { return Checkpoint(); });
  }
  if (options_.keep_ease_fresh) ease_keeper_ = std::thread([this] { KeepEaseFresh(); });
  return absl::OkStatus();
}

LiveCollection::~LiveCollection() {
  checkpointer_.reset();
  {
    std::lock_guard<std::mutex> lock(follow_mutex_);
    stop_ = true;
  }
  follow_wake_.notify_all();
  stopping_.notify_all();
  if (ease_keeper_.joinable()) ease_keeper_.join();
  if (follower_.joinable()) follower_.join();
}

std::shared_ptr<const Snapshot> LiveCollection::snapshot() const {
  std::lock_guard<std::mutex> lock(snapshot_mutex_);
  return snapshot_;
}

void LiveCollection::OnCommitted(absl::Span<const Change> changes) {
  catalog_->Apply(changes);
  if (checkpointer_ != nullptr) checkpointer_->Count(static_cast<int64_t>(changes.size()));
  {
    std::lock_guard<std::mutex> lock(follow_mutex_);
    follow_pending_ = true;
  }
  follow_wake_.notify_one();
}

absl::StatusOr<bool> LiveCollection::FollowOnce() {
  std::vector<Change> changes;
  const auto collect = [&changes](const Change& change) {
    changes.push_back(change);
    return absl::OkStatus();
  };
  const LogOffset behaviour = behaviour_->position();
  auto read = store_->Read(scope_, behaviour, kFollowBatch, collect, kBehaviourChanges);
  if (!read.ok()) return read.status();
  bool any = *read > behaviour;
  behaviour_->Apply(changes, *read);
  if (field_vectors_->any()) {
    changes.clear();
    const LogOffset position = field_vectors_->position();
    auto end = store_->Read(scope_, position, kFollowBatch, collect, kItemChanges);
    if (!end.ok()) return end.status();
    any = any || *end > position;
    if (auto status = field_vectors_->Apply(changes, *end); !status.ok()) return status;
  }
  for (const auto& retriever : loader_->Retrievers()) {
    changes.clear();
    const LogOffset position = retriever->vectors->position();
    auto end = store_->Read(scope_, position, kFollowBatch, collect, kItemChanges);
    if (!end.ok()) return end.status();
    any = any || *end > position;
    if (auto status = retriever->vectors->Apply(changes, *end); !status.ok()) return status;
  }
  return any;
}

void LiveCollection::Follow() {
  absl::Duration pause = absl::Milliseconds(100);
  while (true) {
    {
      std::unique_lock<std::mutex> lock(follow_mutex_);
      follow_wake_.wait_for(lock, std::chrono::milliseconds(absl::ToInt64Milliseconds(pause)),
                            [this] { return stop_ || follow_pending_; });
      if (stop_) return;
      follow_pending_ = false;
    }
    auto any = FollowOnce();
    if (!any.ok()) {
      spdlog::error("follow_failed collection={}/{} reason=\"{}\" retry_in={}", name_.tenant,
                    name_.collection, std::string(any.status().message()), absl::FormatDuration(pause));
      pause = std::min(pause * 2, absl::Seconds(30));
      continue;
    }
    pause = *any ? absl::ZeroDuration() : absl::Seconds(1);
  }
}

absl::Status LiveCollection::RefreshEase() {
  if (!behaviour_->EaseIsStale()) return absl::OkStatus();
  const absl::Status status = behaviour_->RefreshEase();
  // A catalogue that is too large for it does without; the other sources do not notice.
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

void LiveCollection::KeepEaseFresh() {
  while (true) {
    const auto before = behaviour_->ease();
    absl::Status status = RefreshEase();
    if (status.ok() && behaviour_->ease() != before) {
      std::lock_guard<std::mutex> lock(releasing_);
      LetReadyGo();           // their views hold the old model
      status = LoadActive();  // the views of the next snapshot hold the new model
      std::set<std::string> kept;
      for (const auto& [id, release] : kept_) kept.insert(id);
      if (!kept.empty()) Keep(kept, /*anew=*/true);
    }
    if (!status.ok()) {
      spdlog::error("ease_not_refreshed collection={}/{} reason=\"{}\"", name_.tenant, name_.collection,
                    std::string(status.message()));
    }
    std::unique_lock<std::mutex> lock(follow_mutex_);
    if (stopping_.wait_for(lock, kEaseInterval, [this] { return stop_; })) return;
  }
}

absl::Status LiveCollection::Checkpoint() {
  if (options_.read_only) return absl::OkStatus();
  absl::Status first;
  // First what a start replays before it answers.
  first.Update(catalog_->Checkpoint());
  first.Update(behaviour_->Checkpoint());
  first.Update(field_vectors_->Checkpoint());
  for (const auto& retriever : loader_->Retrievers()) first.Update(retriever->vectors->Checkpoint());
  first.Update(index_->Commit());
  first.Update(suggestions_->Checkpoint());
  return first;
}

std::vector<UserNumber> LiveCollection::ErasedBy(const std::vector<Mutation>& mutations) const {
  std::vector<UserNumber> users;
  for (const Mutation& mutation : mutations) {
    const auto* erased = std::get_if<DeleteUser>(&mutation);
    if (erased == nullptr) continue;
    const auto user = store_->FindUser(scope_, erased->id);
    if (!user) continue;
    users.push_back(*user);
    auto record = store_->GetUser(scope_, *user);
    if (record.ok())
      users.insert(users.end(), record->joined_visitors().begin(), record->joined_visitors().end());
  }
  return users;
}

absl::StatusOr<WriteReceipt> LiveCollection::Write(std::vector<Mutation> mutations) {
  absl::ReaderMutexLock writing(&schema_mutex_);
  auto admitted = admission_->Admit(mutations);
  if (!admitted.ok()) return admitted.status();
  auto users = user_admission_->Admit(mutations);
  if (!users.ok()) return users.status();
  for (size_t i = 0; i < users->size(); ++i) (*admitted)[i].Update((*users)[i]);
  std::vector<Mutation> valid;
  std::vector<size_t> places;
  for (size_t i = 0; i < mutations.size(); ++i) {
    if (!(*admitted)[i].ok()) continue;
    valid.push_back(std::move(mutations[i]));
    places.push_back(i);
  }
  const std::vector<UserNumber> erased = ErasedBy(valid);
  if (!erased.empty() && served_ != nullptr) {
    if (auto status = served_->EraseUsers(erased); !status.ok()) return status;
  }
  WriteReceipt receipt;
  receipt.position = store_->EndPosition();
  receipt.results.resize(mutations.size());
  if (!valid.empty()) {
    auto written = store_->Write(scope_, std::move(valid));
    if (!written.ok()) return written.status();
    receipt.position = written->position;
    if (!erased.empty()) {
      if (auto status = EraseFromSuggestions(written->position); !status.ok()) return status;
    }
    for (size_t k = 0; k < places.size(); ++k) receipt.results[places[k]] = std::move(written->results[k]);
  }
  for (size_t i = 0; i < receipt.results.size(); ++i) receipt.results[i].status.Update((*admitted)[i]);
  return receipt;
}

absl::Status LiveCollection::DeclareSchema(const storage::SchemaRecord& record) {
  absl::WriterMutexLock declaring(&schema_mutex_);
  auto merged = MergeSchema(catalog_->schema()->record(), record);
  if (!merged.ok()) return merged.status();
  if (auto status = catalog_->DeclareSchema(*merged); !status.ok()) return status;
  return field_vectors_->Adopt(catalog_->schema());
}

absl::Status LiveCollection::DeclareUserSchema(const storage::SchemaRecord& record) {
  absl::WriterMutexLock declaring(&schema_mutex_);
  auto merged = MergeSchema(user_admission_->schema()->record(), record);
  return merged.ok() ? user_admission_->Declare(*std::move(merged)) : merged.status();
}

absl::StatusOr<PipelineResponse> LiveCollection::Run(const PipelineRequest& request, Deadline deadline) {
  if (!request.consistency_token.empty()) {
    if (auto status = WaitFor(request.consistency_token, deadline); !status.ok()) return status;
  }
  auto current = snapshot();
  if (!request.release.empty() && !current->releases.contains(request.release)) {
    // Testers may name any release; it is loaded for them and let go with the next activation.
    std::lock_guard<std::mutex> lock(releasing_);
    auto release = Load(request.release);
    if (!release.ok()) return release.status();
    Publish(*std::move(release), false);
    current = snapshot();
  }
  return pipeline_->Run(*current, request, deadline);
}

absl::Status LiveCollection::WaitForOffset(LogOffset offset, Deadline deadline) {
  const auto late = [offset](const char* part) {
    return absl::DeadlineExceededError(absl::StrCat("consistency_token: ", part, " has not come to ", offset,
                                                    " in time; ask again, or allow more time"));
  };
  // The catalogue takes a write in before it is answered, so whatever a token names is there.
  if (auto status = index_->CatchUpTo(offset, deadline.when()); !status.ok()) return status;
  if (!behaviour_->WaitFor(offset, deadline.when())) return late("behaviour");
  if (field_vectors_->any() && !field_vectors_->WaitFor(offset, deadline.when())) return late("vectors");
  for (const auto& retriever : loader_->Retrievers()) {
    if (!retriever->vectors->WaitFor(offset, deadline.when())) return late("the vector index");
  }
  return absl::OkStatus();
}

absl::StatusOr<LogOffset> LiveCollection::TokenOffset(const std::string& consistency_token) const {
  auto position = DecodeConsistencyToken(consistency_token);
  if (!position.ok()) return position.status();
  auto offset = EmbeddedOffset(*position, store_->epoch());
  if (!offset.ok()) return offset.status();
  if (*offset > store_->End()) {
    return absl::InvalidArgumentError("consistency_token: names a write that this data folder has not seen");
  }
  return *offset;
}

absl::Status LiveCollection::WaitFor(const std::string& consistency_token, Deadline deadline) {
  auto offset = TokenOffset(consistency_token);
  if (!offset.ok()) return offset.status();
  return WaitForOffset(*offset, deadline);
}

absl::Status LiveCollection::CatchUp(Deadline deadline) {
  follow_wake_.notify_one();
  return WaitForOffset(store_->End(), deadline);
}

CollectionStatus LiveCollection::status() {
  CollectionStatus out;
  out.tenant = name_.tenant;
  out.collection = name_.collection;
  out.counts = store_->Counts(scope_);
  out.log_end = store_->End();
  if (checkpointer_ != nullptr) out.changes_to_keep = checkpointer_->changes();
  // Other collections' changes lie between: behind is only what this one's log still has.
  bool behind = false;
  const auto any = [&behind](const Change&) {
    behind = true;
    return absl::OkStatus();
  };
  const bool read = store_->Read(scope_, catalog_->position(), 1, any).ok();
  out.catalog_position = read && !behind ? out.log_end : catalog_->position();
  const KeywordIndexStatus index = index_->status();
  out.index_position = index.position;
  out.indexed_items = index.items;
  out.index_segments = index.segments;
  out.index_bytes = index.bytes;
  out.behaviour_position = behaviour_->position();
  for (const auto& retriever : loader_->Retrievers()) out.vectors += retriever->vectors->index()->size();
  out.suggesting = suggestions_->started();
  out.suggestions = suggestions_->status();
  const auto current = snapshot();
  out.release = current->active->record.id();
  const UnloadedRelease unloaded = unloaded_release();
  out.unloaded_release = unloaded.id;
  out.unloaded_reason = unloaded.reason;
  out.retriever = current->active->retriever_version;
  out.ranker = current->active->ranker->version();
  out.parts = PartSizes();
  return out;
}

}  // namespace waymark
