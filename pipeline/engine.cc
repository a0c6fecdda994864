#include "pipeline/engine.h"

#include <spdlog/spdlog.h>

#include <map>
#include <mutex>
#include <shared_mutex>

#include "absl/strings/str_cat.h"
#include "pipeline/live_collection.h"
#include "pipeline/served_lists.h"
#include "pipeline/signed_token.h"
#include "store/store_check.h"

namespace waymark {
namespace {

class LiveEngine : public Engine {
 public:
  LiveEngine(std::unique_ptr<Store> store, SigningKey key, const EngineOptions& options)
      : store_(std::move(store)), key_(std::move(key)), options_(options) {}

  ~LiveEngine() override {
    if (auto status = Checkpoint(); !status.ok()) {
      spdlog::error("checkpoint_failed reason=\"{}\" effect=\"the next start replays more of the log\"",
                    std::string(status.message()));
    }
    // The store's listener finds no collection from here on; their threads end before the store does.
    std::map<Scope, std::unique_ptr<LiveCollection>> closing;
    {
      std::unique_lock<std::shared_mutex> lock(mutex_);
      closing.swap(collections_);
    }
  }

  absl::Status Start() {
    if (!options_.read_only) {
      auto served = ServedLists::Open(store_->data_folder(), options_.served_sample_rate, options_.clock);
      if (!served.ok()) return served.status();
      served_ = *std::move(served);
    }
    store_->AddListener([this](Scope scope, absl::Span<const Change> changes) {
      std::shared_lock<std::shared_mutex> lock(mutex_);
      const auto found = collections_.find(scope);
      if (found != collections_.end()) found->second->OnCommitted(changes);
    });
    for (const auto& record : store_->Collections()) {
      auto opened = OpenCollection({record.tenant(), record.collection()}, false);
      if (!opened.ok()) return opened.status();
    }
    return absl::OkStatus();
  }

  Store& store() override { return *store_; }

  absl::StatusOr<Collection*> OpenCollection(const CollectionName& name, bool create) override {
    absl::StatusOr<Scope> scope = store_->FindCollection(name);
    if (absl::IsNotFound(scope.status()) && create) scope = store_->CreateCollection(name);
    if (!scope.ok()) return scope.status();
    {
      std::shared_lock<std::shared_mutex> lock(mutex_);
      if (auto found = collections_.find(*scope); found != collections_.end()) return found->second.get();
    }
    std::lock_guard<std::mutex> opening(opening_);
    {
      std::shared_lock<std::shared_mutex> lock(mutex_);
      if (auto found = collections_.find(*scope); found != collections_.end()) return found->second.get();
    }
    auto record = store_->GetCollection(*scope);
    if (!record.ok()) return record.status();
    // Writes to a collection go through its object, so none can come between its catching up and its
    // registration.
    auto opened =
        LiveCollection::Open(store_.get(), *scope, {record->tenant(), record->collection()}, options_, &key_,
                             served_ == nullptr ? nullptr : served_->SinkOf(*scope));
    if (!opened.ok()) return opened.status();
    std::unique_lock<std::shared_mutex> lock(mutex_);
    return (collections_[*scope] = *std::move(opened)).get();
  }

  std::vector<Collection*> Collections() override {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    std::vector<Collection*> all;
    for (const auto& [scope, collection] : collections_) all.push_back(collection.get());
    return all;
  }

  void CheckServed(PartCheck* check) const override {
    const absl::StatusOr<const ServedLog*> log =
        served_ == nullptr ? absl::StatusOr<const ServedLog*>(absl::NotFoundError("no list is kept"))
                           : absl::StatusOr<const ServedLog*>(&served_->log());
    CheckServedFiles(store_->data_folder(), log, check);
  }
  int64_t served_records_dropped() const override { return served_ == nullptr ? 0 : served_->dropped(); }

  absl::StatusOr<storage::Attribution> ReadAttributionToken(std::string_view token) const override {
    storage::Attribution attribution;
    if (auto status = key_.Verify("attribution_token", token, &attribution); !status.ok()) return status;
    return attribution;
  }

  std::string MakeAttributionToken(const storage::Attribution& attribution) const override {
    return key_.Sign("attribution_token", attribution);
  }

  absl::Status Checkpoint() override {
    absl::Status first;
    std::shared_lock<std::shared_mutex> lock(mutex_);
    for (const auto& [scope, collection] : collections_) first.Update(collection->Checkpoint());
    return first;
  }

 private:
  // In the order of construction: collections end before what they use.
  std::unique_ptr<Store> store_;
  SigningKey key_;
  const EngineOptions options_;
  std::unique_ptr<ServedLists> served_;
  std::mutex opening_;
  mutable std::shared_mutex mutex_;
  std::map<Scope, std::unique_ptr<LiveCollection>> collections_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> Engine::Open(const std::filesystem::path& data,
                                                     const EngineOptions& options) {
  StoreOptions store_options;
  store_options.create = options.create;
  store_options.read_only = options.read_only;
  store_options.clock = options.clock;
  auto store = Store::Open(data, store_options);
  if (!store.ok()) return store.status();
  auto key = SigningKey::Open(data, !options.read_only);
  if (!key.ok()) return key.status();
  auto engine = std::make_unique<LiveEngine>(*std::move(store), *std::move(key), options);
  if (auto status = engine->Start(); !status.ok()) return status;
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace waymark
