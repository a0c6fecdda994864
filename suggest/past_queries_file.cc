// Past queries as bytes of a checkpoint.
#include "suggest/past_queries.h"

namespace waymark {

void PastQueries::Save(CheckedWriter* writer) const {
  writer->Put<int64_t>(newest_us_);
  writer->Put<uint64_t>(entries_.size());
  for (const auto& [query, entry] : entries_) {
    writer->PutText(query);
    writer->Put<uint8_t>(static_cast<uint8_t>(entry.finds));
    writer->Put<int64_t>(entry.checked_us);
    writer->PutArray(absl::MakeConstSpan(entry.users));
  }
}

absl::Status PastQueries::Load(CheckedReader* reader) {
  uint64_t count = 0;
  absl::Status status = reader->Get(&newest_us_);
  if (status.ok()) status = reader->Get(&count);
  for (uint64_t i = 0; i < count && status.ok(); ++i) {
    std::string query;
    Entry entry;
    uint8_t finds = 0;
    status = reader->GetText(&query);
    if (status.ok()) status = reader->Get(&finds);
    if (status.ok()) status = reader->Get(&entry.checked_us);
    if (status.ok() && reader->version() >= 2) {
      status = reader->GetArray(&entry.users);
    } else if (status.ok()) {
      struct AskedOfVersion1 {
        UserNumber user;
        int64_t time_us;
      };
      std::vector<AskedOfVersion1> users;
      status = reader->GetArray(&users);
      for (const AskedOfVersion1& asked : users) entry.users.push_back({asked.user, asked.time_us});
    }
    if (!status.ok()) break;
    if (finds > static_cast<uint8_t>(Finds::kYes) || query.empty() || query.size() > kMaxPastQueryBytes ||
        entry.users.empty() || entry.users.size() > kMaxPastQueryUsers) {
      return reader->Damaged("holds a past query that is none");
    }
    entry.finds = static_cast<Finds>(finds);
    pairs_ += entry.users.size();
    if (!entries_.emplace(std::move(query), std::move(entry)).second) {
      return reader->Damaged("holds a past query twice");
    }
  }
  changed_ = true;
  Counted();
  return status;
}

}  // namespace waymark
