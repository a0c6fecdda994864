// FieldVectors::Check: what is held against what the store's items have.
#include "absl/strings/str_cat.h"
#include "recommend/field_vector.h"
#include "recommend/field_vectors.h"

namespace waymark {

absl::Status FieldVectors::Check(PartCheck* check) const {
  constexpr int kLooks = 5;
  check->position = position();
  for (const Indexed& indexed : Fields()) {
    const auto width = static_cast<size_t>(IndexedWidth(indexed.field));
    const auto same = [&](ItemOrdinal item, const storage::ItemRecord* record) {
      std::optional<std::vector<float>> expected;
      if (record != nullptr) expected = IndexedVector(indexed.field, record->fields());
      std::vector<float> held(width);
      const ItemOrdinal one[] = {item};
      const bool has = indexed.index->ReadVectors(one, absl::MakeSpan(held)) == 1;
      return has == expected.has_value() && (!has || held == *expected);
    };
    std::vector<ItemOrdinal> suspects;
    std::vector<bool> seen(store_->ItemEnd(scope_));
    size_t expected = 0;
    const LogOffset before = store_->End();
    absl::Status walked =
        store_->ForEachItem(scope_, 0, [&](ItemOrdinal item, const storage::ItemRecord& record) {
          if (item < seen.size()) seen[item] = true;
          expected += IndexedVector(indexed.field, record.fields()).has_value();
          if (!same(item, &record)) suspects.push_back(item);
          return true;
        });
    if (!walked.ok()) return walked;
    for (ItemOrdinal item = 0; item < seen.size(); ++item) {
      if (!seen[item] && !same(item, nullptr)) suspects.push_back(item);
    }
    check->items += static_cast<int64_t>(expected);
    for (const ItemOrdinal item : suspects) {
      bool differs = true;
      std::string id;
      for (int look = 0; look < kLooks && differs; ++look) {
        WaitFor(store_->End(), absl::Now() + absl::Seconds(2));
        const auto record = store_->GetItem(scope_, item);
        if (!record.ok() && !absl::IsNotFound(record.status())) return record.status();
        id = store_->ItemId(scope_, item);
        differs = !same(item, record.ok() ? &*record : nullptr);
      }
      if (differs) {
        check->Find(
            absl::StrCat("item '", id, "'"),
            absl::StrCat("has another vector here than in field '", indexed.field.name(), "' of the store"),
            kMadeAnew);
      }
    }
    const size_t held = indexed.index->size();
    if (held != expected && suspects.empty() && store_->End() == before && position() >= before) {
      check->Find(absl::StrCat("field '", indexed.field.name(), "'"),
                  absl::StrCat("holds ", held, " vectors; the store has ", expected), kMadeAnew);
    }
  }
  return absl::OkStatus();
}

}  // namespace waymark
