// An engine on a folder of its own that goes with the test.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "pipeline/engine.h"
#include "tests/support/catch.h"

namespace waymark::tests {

class OpenEngine {
 public:
  explicit OpenEngine(EngineOptions options = {}) : options_(options) {
    static int number = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("waymark-e2e-" + std::to_string(getpid()) + "-" + std::to_string(number++));
    std::filesystem::remove_all(folder_);
    Open();
  }
  ~OpenEngine() {
    engine_.reset();
    std::filesystem::remove_all(folder_);
  }
  // `between`: while nothing has the folder open.
  void Reopen(const std::function<void()>& between = [] {}) {
    engine_.reset();
    between();
    Open();
  }
  Engine& operator*() { return *engine_; }
  Engine* operator->() { return engine_.get(); }
  const std::filesystem::path& folder() const { return folder_; }
  Collection* In(const CollectionName& name = {}) {
    auto collection = engine_->OpenCollection(name, true);
    if (!collection.ok()) FAIL(std::string(collection.status().message()));
    return *collection;
  }

 private:
  void Open() {
    auto engine = Engine::Open(folder_, options_);
    if (!engine.ok()) FAIL(std::string(engine.status().message()));
    engine_ = *std::move(engine);
  }
  EngineOptions options_;
  std::filesystem::path folder_;
  std::unique_ptr<Engine> engine_;
};

inline PutItem Film(const std::string& id, const std::string& title, const std::string& genre, double price) {
  PutItem item;
  item.id = id;
  auto& fields = *item.fields.mutable_fields();
  fields["title"].set_string_value(title);
  fields["genres"].mutable_list_value()->add_values()->set_string_value(genre);
  fields["price"].set_number_value(price);
  return item;
}

inline WriteEvent View(const std::string& user, const std::string& item, const std::string& event_id = "") {
  WriteEvent event;
  event.event_id = event_id;
  event.type = "view";
  event.user_id = user;
  event.items.push_back({item});
  return event;
}

inline WriteReceipt MustWrite(Collection* collection, std::vector<Mutation> mutations) {
  auto receipt = collection->Write(std::move(mutations));
  if (!receipt.ok()) FAIL(std::string(receipt.status().message()));
  for (const MutationResult& result : receipt->results) {
    if (!result.status.ok()) FAIL(std::string(result.status.message()));
  }
  return *receipt;
}

inline PipelineRequest SearchFor(const std::string& query, const std::string& filter = "") {
  PipelineRequest request;
  request.query = query;
  request.filter = filter;
  request.page_size = 100;
  return request;
}

inline PipelineRequest FeedOf(const std::string& user) {
  PipelineRequest request;
  request.kind = RequestKind::kRecommend;
  request.user_id = user;
  request.page_size = 100;
  return request;
}

inline std::vector<std::string> Ids(Collection* collection, const PipelineRequest& request) {
  auto answer = collection->Run(request, Deadline::Never());
  if (!answer.ok()) FAIL(std::string(answer.status().message()));
  std::vector<std::string> ids;
  for (const RankedItem& item : answer->items) ids.push_back(item.record.id());
  return ids;
}

inline bool Has(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace waymark::tests
