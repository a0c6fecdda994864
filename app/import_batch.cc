#include "app/import_batch.h"

#include "absl/time/clock.h"
#include "app/event_message.h"
#include "store/rows/row_mutation.h"
#include "waymark/v1/user.pb.h"

namespace waymark {
namespace {

constexpr size_t kMostEntries = 1000;
// Well below what a message may have (16 MB).
constexpr size_t kMostBytes = size_t{6} << 20;
constexpr int kTries = 6;

// Items and events: the answer counts, and names refused entries by their place.
template <class Response>
void Count(const Response& response, const std::function<int64_t(int64_t)>& line_of, BatchOutcome* outcome) {
  outcome->written = response.written();
  outcome->refused = response.refused();
  for (const v1::ImportError& error : response.errors()) {
    outcome->refusals.push_back({line_of(error.line() - 1), error.message()});
  }
}

class ItemBatch : public ImportBatch {
 public:
  explicit ItemBatch(const std::string& parent) { request_.set_parent(parent); }

 private:
  absl::StatusOr<size_t> Take(google::protobuf::Struct fields) override {
    auto item = ItemFromRow(std::move(fields));
    if (!item.ok()) return item.status();
    v1::Item* entry = request_.add_items();
    entry->set_id(item->id);
    entry->mutable_fields()->Swap(&item->fields);
    return entry->ByteSizeLong();
  }
  absl::StatusOr<BatchOutcome> SendOnce(Backend* backend) override {
    auto response = backend->ImportItems(request_);
    if (!response.ok()) return response.status();
    BatchOutcome outcome;
    Count(
        *response, [this](int64_t place) { return LineOf(place); }, &outcome);
    return outcome;
  }
  void Clear() override { request_.clear_items(); }
  v1::ImportItemsRequest request_;
};

// Rows that hold some fields of items that are there already.
class UpdateBatch : public ImportBatch {
 public:
  explicit UpdateBatch(const std::string& parent) { request_.set_parent(parent); }

 private:
  absl::StatusOr<size_t> Take(google::protobuf::Struct fields) override {
    auto item = ItemFromRow(std::move(fields));
    if (!item.ok()) return item.status();
    v1::Item* entry = request_.add_updates()->mutable_item();
    entry->set_id(item->id);
    entry->mutable_fields()->Swap(&item->fields);
    return entry->ByteSizeLong();
  }
  absl::StatusOr<BatchOutcome> SendOnce(Backend* backend) override {
    v1::UpdateItemsResponse response;
    auto status = backend->Call("waymark.v1.CatalogService.UpdateItems", request_, &response);
    if (!status.ok()) return status;
    BatchOutcome outcome;
    for (int i = 0; i < response.results_size(); ++i) {
      if (response.results(i).code() == 0) {
        ++outcome.written;
      } else {
        ++outcome.refused;
        outcome.refusals.push_back({LineOf(i), response.results(i).message()});
      }
    }
    return outcome;
  }
  void Clear() override { request_.clear_updates(); }
  v1::UpdateItemsRequest request_;
};

class EventBatch : public ImportBatch {
 public:
  explicit EventBatch(const std::string& parent) { request_.set_parent(parent); }

 private:
  absl::StatusOr<size_t> Take(google::protobuf::Struct fields) override {
    auto event = EventFromRow(fields);
    if (!event.ok()) return event.status();
    *request_.add_events() = ToMessage(*event);
    return request_.events(request_.events_size() - 1).ByteSizeLong();
  }
  absl::StatusOr<BatchOutcome> SendOnce(Backend* backend) override {
    auto response = backend->ImportEvents(request_);
    if (!response.ok()) return response.status();
    BatchOutcome outcome;
    Count(
        *response, [this](int64_t place) { return LineOf(place); }, &outcome);
    outcome.duplicates = response->duplicates();
    return outcome;
  }
  void Clear() override { request_.clear_events(); }
  v1::ImportEventsRequest request_;
};

class UserBatch : public ImportBatch {
 public:
  explicit UserBatch(const std::string& parent) { request_.set_parent(parent); }

 private:
  absl::StatusOr<size_t> Take(google::protobuf::Struct fields) override {
    auto user = UserFromRow(std::move(fields));
    if (!user.ok()) return user.status();
    v1::User* entry = request_.add_users();
    entry->set_id(user->id);
    entry->mutable_fields()->Swap(&user->fields);
    return entry->ByteSizeLong();
  }
  absl::StatusOr<BatchOutcome> SendOnce(Backend* backend) override {
    v1::PutUsersResponse response;
    if (auto status = backend->Call("waymark.v1.UserService.PutUsers", request_, &response); !status.ok()) {
      return status;
    }
    BatchOutcome outcome;
    for (int i = 0; i < response.results_size(); ++i) {
      if (response.results(i).code() == 0) {
        ++outcome.written;
      } else {
        ++outcome.refused;
        outcome.refusals.push_back({LineOf(i), response.results(i).message()});
      }
    }
    return outcome;
  }
  void Clear() override { request_.clear_users(); }
  v1::PutUsersRequest request_;
};

}  // namespace

absl::Status ImportBatch::Add(Row row) {
  auto bytes = Take(std::move(row.fields));
  if (!bytes.ok()) return bytes.status();
  lines_.push_back(row.line);
  bytes_ += *bytes;
  return absl::OkStatus();
}

bool ImportBatch::Full() const { return lines_.size() >= kMostEntries || bytes_ >= kMostBytes; }

absl::StatusOr<BatchOutcome> ImportBatch::Send(Backend* backend) {
  absl::StatusOr<BatchOutcome> outcome;
  for (int attempt = 1; attempt <= kTries; ++attempt) {
    outcome = SendOnce(backend);
    // Refused before anything was done, so it may be sent again.
    const bool busy =
        outcome.status().code() == absl::StatusCode::kResourceExhausted && backend->engine() == nullptr;
    if (!busy || attempt == kTries) break;
    absl::SleepFor(absl::Milliseconds(100 << attempt));
  }
  if (!outcome.ok()) return outcome;
  Clear();
  lines_.clear();
  bytes_ = 0;
  return outcome;
}

std::unique_ptr<ImportBatch> MakeImportBatch(RowKind kind, const std::string& parent, ItemWriting writing) {
  switch (kind) {
    case RowKind::kItem:
      if (writing == ItemWriting::kUpdate) return std::make_unique<UpdateBatch>(parent);
      return std::make_unique<ItemBatch>(parent);
    case RowKind::kUser:
      return std::make_unique<UserBatch>(parent);
    case RowKind::kEvent:
      return std::make_unique<EventBatch>(parent);
  }
  return nullptr;
}

}  // namespace waymark
