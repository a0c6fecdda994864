#include "catalog/item_content.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>
#include <xxhash.h>

#include <algorithm>
#include <string>

#include "catalog/field_path.h"
#include "catalog/field_value.h"

namespace waymark {
namespace {

// Keeps one item from holding an unbounded number of hashes.
constexpr size_t kMostWords = 64, kMostCategories = 256;

}  // namespace

uint64_t ContentHash(std::string_view field, std::string_view value) {
  std::string bytes;
  bytes.reserve(field.size() + 1 + value.size());
  bytes.append(field).append(1, '\0').append(value);
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::vector<uint64_t> TitleWordHashes(std::string_view field, std::string_view title) {
  std::vector<uint64_t> hashes;
  const std::string folded = FoldCase(title);
  const auto length = static_cast<int32_t>(folded.size());
  int32_t at = 0, start = -1;
  while (at < length && hashes.size() < kMostWords) {
    const int32_t before = at;
    UChar32 character;
    U8_NEXT(folded.data(), at, length, character);
    // Apostrophes stay inside words: «don't» is one.
    const bool inside = character >= 0 &&
                        (u_isalnum(character) || (start >= 0 && (character == '\'' || character == 0x2019)));
    if (inside && start < 0) start = before;
    if (start >= 0 && (!inside || at == length)) {
      const int32_t end = inside ? at : before;
      hashes.push_back(ContentHash(field, std::string_view(folded).substr(start, end - start)));
      start = -1;
    }
  }
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return hashes;
}

void ItemContent::Set(ItemOrdinal item, const Schema& schema, const google::protobuf::Struct& fields) {
  Hashes hashes;
  if (const Field* title = schema.TitleField()) {
    std::string text;
    ForEachAt(fields, title->name(), [&](const google::protobuf::Value& value) {
      ForEachScalar(value, [&](const google::protobuf::Value& v) {
        if (std::optional<std::string> part = ScalarText(v)) text += (text.empty() ? "" : " ") + *part;
      });
    });
    hashes.all = TitleWordHashes(title->name(), text);
    hashes.words = static_cast<uint32_t>(hashes.all.size());
  }
  for (const Field& field : schema.fields()) {
    if (!field.category()) continue;
    const auto add = [&](const google::protobuf::Value& v) {
      if (hashes.all.size() - hashes.words >= kMostCategories) return;
      if (std::optional<std::string> text = ScalarText(v)) {
        const uint64_t hash = ContentHash(field.name(), *text);
        if (std::find(hashes.all.begin() + hashes.words, hashes.all.end(), hash) == hashes.all.end()) {
          hashes.all.push_back(hash);
        }
      }
    };
    ForEachAt(fields, field.name(), [&](const google::protobuf::Value& value) { ForEachScalar(value, add); });
  }
  hashes.all.shrink_to_fit();
  if (hashes.all.empty()) return Clear(item);
  if (item >= items_.size()) items_.resize(size_t{item} + 1);
  items_[item] = std::move(hashes);
}

void ItemContent::Clear(ItemOrdinal item) {
  if (item < items_.size()) items_[item] = Hashes{};
}

void ItemContent::Write(ByteWriter* out) const {
  out->Put<uint64_t>(items_.size());
  for (const Hashes& hashes : items_) {
    out->Put(hashes.words);
    out->PutArray(hashes.all);
  }
}

bool ItemContent::Read(ByteReader* in, size_t end) {
  uint64_t count = 0;
  if (!in->Get(&count) || count > end || count > in->left() / 12) return false;
  items_.resize(count);
  for (Hashes& hashes : items_) {
    if (!in->Get(&hashes.words) || !in->GetArray(&hashes.all) || hashes.words > hashes.all.size())
      return false;
  }
  return true;
}

}  // namespace waymark
