// A store in a folder of its own, and short ways to write into it.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "store/store.h"
#include "tests/support/catch.h"

namespace waymark::tests {

// Removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "waymark-store-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline const absl::Time kNow = absl::FromCivil(absl::CivilSecond(2024, 5, 1, 12, 0, 0), absl::UTCTimeZone());

inline google::protobuf::Value Number(double number) {
  google::protobuf::Value value;
  value.set_number_value(number);
  return value;
}
inline google::protobuf::Value Text(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  return value;
}
using FieldList = std::vector<std::pair<std::string, google::protobuf::Value>>;
inline google::protobuf::Struct Fields(const FieldList& list) {
  google::protobuf::Struct fields;
  for (const auto& [name, value] : list) (*fields.mutable_fields())[name] = value;
  return fields;
}

// At second `at` after 2024-01-01; user "u...", or visitor "v...".
inline WriteEvent Event(const std::string& who, const std::string& item, int at = 0,
                        const std::string& type = "click") {
  WriteEvent event;
  event.type = type;
  (who[0] == 'v' ? event.visitor_id : event.user_id) = who;
  if (!item.empty()) event.items.push_back({.item_id = item});
  event.time = absl::FromCivil(absl::CivilSecond(2024, 1, 1), absl::UTCTimeZone()) + absl::Seconds(at);
  return event;
}
inline WriteEvent Identify(const std::string& user, const std::string& visitor, int at = 0) {
  WriteEvent event = Event(user, "", at, "identify");
  event.visitor_id = visitor;
  return event;
}

class StoreFixture {
 public:
  StoreFixture() { Reopen(); }

  void Reopen() {
    store_.reset();
    auto opened = Store::Open(folder_.path() / "data", {.clock = &clock_, .cache_bytes = 8 << 20});
    REQUIRE(opened.status() == absl::OkStatus());
    store_ = std::move(*opened);
    auto scope = store_->CreateCollection({});
    REQUIRE(scope.ok());
    scope_ = *scope;
  }
  void Close() { store_.reset(); }
  std::filesystem::path data() const { return folder_.path() / "data"; }

  // All of them have to be taken.
  WriteReceipt Write(std::vector<Mutation> mutations) {
    auto receipt = store_->Write(scope_, std::move(mutations));
    REQUIRE(receipt.status() == absl::OkStatus());
    for (const MutationResult& result : receipt->results) REQUIRE(result.status == absl::OkStatus());
    return std::move(*receipt);
  }
  MutationResult WriteOne(Mutation mutation) {
    auto receipt = store_->Write(scope_, {std::move(mutation)});
    REQUIRE(receipt.status() == absl::OkStatus());
    return receipt->results.at(0);
  }
  std::vector<Change> ReadLog(LogOffset after = 0) {
    std::vector<Change> changes;
    auto end = store_->Read(scope_, after, 1 << 30, [&](const Change& change) {
      changes.push_back(change);
      return absl::OkStatus();
    });
    REQUIRE(end.ok());
    return changes;
  }
  // Item ids, newest first.
  std::vector<std::string> HistoryOf(UserNumber user, const HistoryOptions& options = {}) {
    std::vector<std::string> ids;
    for (const HistoryEvent& event : store_->ReadHistory(scope_, user, options)) {
      ids.push_back(store_->ItemId(scope_, event.item));
    }
    return ids;
  }
  UserNumber User(const std::string& id) { return store_->FindUser(scope_, id).value_or(0); }
  UserNumber VisitorNumber(const std::string& id) { return store_->FindVisitor(scope_, id).value_or(0); }

  TemporaryFolder folder_;
  FixedClock clock_{kNow};
  std::unique_ptr<Store> store_;
  Scope scope_;
};

}  // namespace waymark::tests
