// The store beside a model of it made of maps, under random writes and restarts.
#include <map>
#include <random>
#include <set>

#include "tests/store/fixture.h"

namespace waymark::tests {
namespace {

struct ModelItem {
  std::map<std::string, double> fields;
  int64_t version = 0;
  bool live = false;
};
struct ModelUser {
  std::map<std::string, double> fields;
  int64_t version = 0;
};

class Model {
 public:
  // Applies the mutation; answers the status code and the version to expect.
  std::pair<absl::StatusCode, int64_t> Apply(const Mutation& mutation) {
    return std::visit([this](const auto& m) { return Take(m); }, mutation);
  }
  std::map<std::string, ItemOrdinal> ordinals;
  std::map<std::string, ModelItem> items;
  std::map<std::string, ModelUser> users;
  std::set<std::string> event_ids;
  int64_t events = 0;
  LogOffset end = 0;
  // user -> (time, offset, item)
  std::map<std::string, std::set<std::tuple<absl::Time, LogOffset, std::string>>> histories;

 private:
  using Answer = std::pair<absl::StatusCode, int64_t>;
  static std::map<std::string, double> FieldsOf(const google::protobuf::Struct& fields) {
    std::map<std::string, double> out;
    for (const auto& [name, value] : fields.fields()) out[name] = value.number_value();
    return out;
  }
  template <typename Record>
  static void Merge(const google::protobuf::Struct& from, const std::vector<std::string>& paths,
                    Record& record) {
    const auto fields = FieldsOf(from);
    if (paths.empty()) {
      for (const auto& [name, value] : fields) record.fields[name] = value;
    }
    for (const std::string& path : paths) {
      record.fields.erase(path);
      if (fields.contains(path)) record.fields[path] = fields.at(path);
    }
  }
  Answer Take(const PutItem& m) {
    ordinals.emplace(m.id, ordinals.size());
    ModelItem& item = items[m.id];
    item.fields = FieldsOf(m.fields);
    item.live = true;
    ++end;
    return {absl::StatusCode::kOk, ++item.version};
  }
  Answer Take(const UpdateItem& m) {
    if (!items.contains(m.id) || !items[m.id].live) return {absl::StatusCode::kNotFound, 0};
    ModelItem& item = items[m.id];
    if (m.expected_version != 0 && m.expected_version != item.version) {
      return {absl::StatusCode::kAborted, item.version};
    }
    Merge(m.fields, m.paths, item);
    ++end;
    return {absl::StatusCode::kOk, ++item.version};
  }
  Answer Take(const DeleteItem& m) {
    if (!items.contains(m.id) || !items[m.id].live) return {absl::StatusCode::kNotFound, 0};
    ModelItem& item = items[m.id];
    item.live = false;
    item.fields.clear();
    ++end;
    return {absl::StatusCode::kOk, ++item.version};
  }
  Answer Take(const PutUser& m) {
    ModelUser& user = users[m.id];
    user.fields = FieldsOf(m.fields);
    ++end;
    return {absl::StatusCode::kOk, ++user.version};
  }
  Answer Take(const UpdateUser& m) {
    if (!users.contains(m.id)) return {absl::StatusCode::kNotFound, 0};
    ModelUser& user = users[m.id];
    if (m.expected_version != 0 && m.expected_version != user.version) {
      return {absl::StatusCode::kAborted, user.version};
    }
    Merge(m.fields, m.paths, user);
    ++end;
    return {absl::StatusCode::kOk, ++user.version};
  }
  Answer Take(const DeleteUser& m) {
    if (users.erase(m.id) != 0) ++end;
    histories.erase(m.id);
    return {absl::StatusCode::kOk, 0};
  }
  Answer Take(const WriteEvent& m) {
    if (!event_ids.insert(m.event_id).second) return {absl::StatusCode::kOk, 0};
    users[m.user_id];
    ++events;
    ++end;
    for (const auto& item : m.items) {
      ordinals.emplace(item.item_id, ordinals.size());
      histories[m.user_id].emplace(*m.time, end, item.item_id);
    }
    return {absl::StatusCode::kOk, 0};
  }
};

class RandomWrites {
 public:
  explicit RandomWrites(uint32_t seed) : random_(seed) {}
  Mutation Next() {
    const std::string item = absl::StrCat("i", random_() % 20), user = absl::StrCat("u", random_() % 8);
    switch (random_() % 12) {
      case 0:
      case 1:
        return PutItem{item, SomeFields()};
      case 2:
        return UpdateItem{item, SomeFields(), SomePaths(), static_cast<int64_t>(random_() % 4)};
      case 3:
        return DeleteItem{item};
      case 4:
        return PutUser{user, SomeFields()};
      case 5:
        return UpdateUser{user, SomeFields(), SomePaths(), static_cast<int64_t>(random_() % 4)};
      case 6:
        return random_() % 3 == 0 ? Mutation(DeleteUser{user}) : Mutation(PutUser{user, SomeFields()});
      default: {
        WriteEvent event = Event(user, item, static_cast<int>(random_() % 40));
        event.event_id = absl::StrCat("e", random_() % 3000);
        return event;
      }
    }
  }
  uint32_t operator()() { return static_cast<uint32_t>(random_()); }

 private:
  google::protobuf::Struct SomeFields() {
    FieldList list;
    for (const char* name : {"a", "b", "c"}) {
      if (random_() % 2 == 0) list.emplace_back(name, Number(static_cast<double>(random_() % 5)));
    }
    return Fields(list);
  }
  std::vector<std::string> SomePaths() {
    std::vector<std::string> paths;
    if (random_() % 2 == 0) return paths;
    for (const char* name : {"a", "b", "c"}) {
      if (random_() % 2 == 0) paths.emplace_back(name);
    }
    return paths;
  }
  std::mt19937 random_;
};

std::map<std::string, double> Plain(const google::protobuf::Struct& fields) {
  std::map<std::string, double> out;
  for (const auto& [name, value] : fields.fields()) out[name] = value.number_value();
  return out;
}

void CheckItems(StoreFixture& f, const Model& model) {
  int64_t live = 0;
  for (const auto& [id, ordinal] : model.ordinals) {
    REQUIRE(f.store_->FindItem(f.scope_, id) == ordinal);
    REQUIRE(f.store_->ItemId(f.scope_, ordinal) == id);
    const auto found = model.items.find(id);
    const auto record = f.store_->GetItem(f.scope_, ordinal);
    const bool is_live = found != model.items.end() && found->second.live;
    REQUIRE(record.ok() == is_live);
    if (!is_live) continue;
    ++live;
    CHECK(record->version() == found->second.version);
    CHECK(Plain(record->fields()) == found->second.fields);
  }
  CHECK(f.store_->Counts(f.scope_).items == live);
  CHECK(f.store_->ItemEnd(f.scope_) == model.ordinals.size());
}

void CheckUsers(StoreFixture& f, const Model& model) {
  CHECK(f.store_->Counts(f.scope_).users == static_cast<int64_t>(model.users.size()));
  for (int i = 0; i < 8; ++i) {
    const std::string id = absl::StrCat("u", i);
    const auto found = model.users.find(id);
    const UserNumber number = f.User(id);
    REQUIRE((number != 0) == (found != model.users.end()));
    if (number == 0) continue;
    const auto record = f.store_->GetUser(f.scope_, number);
    REQUIRE(record.ok());
    CHECK(record->version() == found->second.version);
    CHECK(Plain(record->fields()) == found->second.fields);
    std::vector<std::string> expected;
    if (auto history = model.histories.find(id); history != model.histories.end()) {
      for (auto line = history->second.rbegin(); line != history->second.rend(); ++line) {
        expected.push_back(std::get<2>(*line));
      }
    }
    CHECK(f.HistoryOf(number, {.limit = 100000}) == expected);
  }
}

}  // namespace

TEST_CASE("the store answers like a model of maps under random writes and restarts") {
  for (uint32_t seed : {1u, 2u, 3u}) {
    StoreFixture f;
    Model model;
    RandomWrites random(seed);
    for (int round = 0; round < 150; ++round) {
      std::vector<Mutation> mutations;
      for (uint32_t i = 0, count = 1 + random() % 12; i < count; ++i) mutations.push_back(random.Next());
      auto receipt = f.store_->Write(f.scope_, mutations);
      REQUIRE(receipt.status() == absl::OkStatus());
      for (size_t i = 0; i < mutations.size(); ++i) {
        const bool is_event = std::holds_alternative<WriteEvent>(mutations[i]);
        const int64_t events_before = model.events;
        const auto [code, version] = model.Apply(mutations[i]);
        REQUIRE(receipt->results[i].status.code() == code);
        REQUIRE(receipt->results[i].version == version);
        REQUIRE(receipt->results[i].duplicate == (is_event && model.events == events_before));
      }
      REQUIRE(f.store_->End() == model.end);
      REQUIRE(receipt->position.parts(0).offset() == model.end);
      REQUIRE(f.store_->Counts(f.scope_).events == model.events);
      if (random() % 25 == 0) REQUIRE(f.store_->Flush().ok());
      if (random() % 25 == 0) f.Reopen();
      if (random() % 8 == 0) {
        CheckItems(f, model);
        CheckUsers(f, model);
      }
    }
    f.Reopen();
    CheckItems(f, model);
    CheckUsers(f, model);
    const auto log = f.ReadLog();
    REQUIRE(log.size() == model.end);
    for (size_t i = 0; i < log.size(); ++i) REQUIRE(log[i].offset == i + 1);
  }
}

}  // namespace waymark::tests
