#include "store/erasure_impl.h"
#include "store/keys.h"
#include "store/write_builder_impl.h"

namespace waymark {
namespace {

constexpr size_t kLinesPerBatch = 1000;

absl::Status RewriteEntry(const Database& database, Scope scope, LogOffset offset, Batch& batch) {
  storage::LogEntry entry;
  const std::string key = LogKey(scope, offset);
  absl::Status status = database.GetRecord(Family::kLog, key, "log entry", entry);
  if (absl::IsNotFound(status)) return absl::OkStatus();  // past its retention
  if (!status.ok()) return status;
  Anonymize(entry);
  database.Put(batch, Family::kLog, key, entry);
  return absl::OkStatus();
}

LogOffset OffsetOfLine(Family family, std::string_view key) {
  if (family == Family::kHistory) {
    const auto place = PlaceOfHistoryKey(key);
    return place.has_value() ? place->offset : 0;
  }
  return ReadBigEndian64(key.substr(key.size() - 8));
}

// Rewrites and removes at most kLinesPerBatch lines; `left` says whether there may be more.
absl::Status CleanSome(Database& database, Family family, Scope scope, UserNumber user, bool& left) {
  Batch batch;
  auto lines = database.Walk(family, UserKey(scope, user), true);
  size_t count = 0;
  LogOffset rewritten = 0;  // an event with several items has lines side by side
  for (; lines->Valid() && count < kLinesPerBatch; lines->Next(), ++count) {
    const LogOffset offset = OffsetOfLine(family, lines->key());
    if (offset != rewritten) {
      if (absl::Status status = RewriteEntry(database, scope, offset, batch); !status.ok()) return status;
      rewritten = offset;
    }
    database.Delete(batch, family, lines->key());
  }
  left = lines->Valid();
  if (absl::Status status = database.Check(lines->status()); !status.ok()) return status;
  lines.reset();  // a write may have to open the database again
  return count == 0 ? absl::OkStatus() : database.Write(batch, false);
}

absl::Status CleanUser(Database& database, Scope scope, UserNumber user) {
  for (Family family : {Family::kHistory, Family::kUserLog}) {
    for (bool left = true; left;) {
      if (absl::Status status = CleanSome(database, family, scope, user, left); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

struct Note {
  std::string key, numbers;
};

absl::StatusOr<std::vector<Note>> ReadNotes(const Database& database) {
  std::vector<Note> notes;
  auto walk = database.Walk(Family::kMeta, std::string(kErasurePrefix));
  for (; walk->Valid(); walk->Next()) {
    if (walk->key().size() == 1 + kScopeBytes + 8) {
      notes.push_back({std::string(walk->key()), std::string(walk->value())});
    }
  }
  if (absl::Status status = database.Check(walk->status()); !status.ok()) return status;
  return notes;
}

}  // namespace

void Anonymize(storage::LogEntry& entry) {
  if (entry.has_user()) {
    const UserNumber user = entry.user().user();
    entry.mutable_erasure()->set_user(user);
    return;
  }
  if (!entry.has_event()) return;
  storage::EventRecord kept;
  kept.set_type(entry.event().type());
  *kept.mutable_items() = entry.event().items();
  kept.set_time_us(entry.event().time_us());
  kept.set_received_time_us(entry.event().received_time_us());
  *entry.mutable_event() = std::move(kept);
}

absl::Status FinishErasures(Database& database) {
  auto notes = ReadNotes(database);
  if (!notes.ok()) return notes.status();
  for (const Note& note : *notes) {
    const std::string_view key = std::string_view(note.key).substr(1);
    const Scope scope = {ReadBigEndian32(key), ReadBigEndian32(key.substr(4))};
    for (size_t at = 0; at + 8 <= note.numbers.size(); at += 8) {
      const UserNumber user = ReadBigEndian64(std::string_view(note.numbers).substr(at));
      if (absl::Status status = CleanUser(database, scope, user); !status.ok()) return status;
    }
    Batch batch;
    database.Delete(batch, Family::kMeta, note.key);
    if (absl::Status status = database.Write(batch, true); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace waymark
