#include "training/shards/list_example.h"

#include "absl/strings/str_cat.h"
#include "store/package/model_package.h"
#include "training/shards/example_features.h"

namespace waymark {
namespace {

constexpr int64_t kNoRowOfItem = -1;

int64_t RowOfItem(ItemOrdinal item) { return item == kNoItem ? kNoRowOfItem : static_cast<int64_t>(item); }

// least: 0, or -1 where a row may be unknown.
absl::Status ReadItemRows(const storage::Example& in, const char* name, int64_t least, int64_t item_end,
                          std::vector<ItemOrdinal>* out) {
  std::vector<int64_t> rows;
  if (absl::Status read = ReadNumbers(in, name, &rows); !read.ok()) return read;
  out->clear();
  for (int64_t row : rows) {
    if (row < least || row >= item_end) {
      return WrongFeature(name, absl::StrCat("names row ", row, " of ", item_end));
    }
    out->push_back(row < 0 ? kNoItem : static_cast<ItemOrdinal>(row));
  }
  return absl::OkStatus();
}

absl::Status ParseRecord(std::string_view record, storage::Example* in) {
  return in->ParseFromArray(record.data(), static_cast<int>(record.size()))
             ? absl::OkStatus()
             : absl::DataLossError("is no tf.train.Example");
}

absl::Status SameCount(const char* name, size_t has, size_t takes) {
  if (has == takes) return absl::OkStatus();
  return WrongFeature(name, absl::StrCat("has ", has, " values; it takes ", takes));
}

}  // namespace

std::string PrintList(const RankingList& list) {
  storage::Example out;
  NumbersOf(&out, "user")->Add(static_cast<int64_t>(list.user));
  NumbersOf(&out, "time")->Add(list.time_us);
  NumbersOf(&out, "position")->Add(static_cast<int64_t>(list.position));
  auto* candidates = NumbersOf(&out, "candidates");
  for (ItemOrdinal item : list.candidates) candidates->Add(RowOfItem(item));
  RealsOf(&out, "gains")->Add(list.gains.begin(), list.gains.end());
  RealsOf(&out, "features")->Add(list.features.begin(), list.features.end());
  auto* history = NumbersOf(&out, "history");
  for (ItemOrdinal item : list.history) history->Add(RowOfItem(item));
  NumbersOf(&out, "types")->Add(list.types.begin(), list.types.end());
  auto* query = NumbersOf(&out, "query");
  for (uint64_t hash : list.query) query->Add(static_cast<int64_t>(hash));
  return PrintExample(out);
}

absl::Status ParseList(std::string_view record, size_t columns, int64_t item_end, ListExample* list) {
  storage::Example in;
  int64_t user = 0, position = 0;
  std::vector<int64_t> types, query;
  absl::Status status = ParseRecord(record, &in);
  if (status.ok()) status = ReadNumber(in, "user", &user);
  if (status.ok()) status = ReadNumber(in, "time", &list->time_us);
  if (status.ok()) status = ReadNumber(in, "position", &position);
  if (status.ok()) status = ReadItemRows(in, "candidates", 0, item_end, &list->candidates);
  if (status.ok()) status = ReadReals(in, "gains", &list->gains);
  if (status.ok()) status = ReadReals(in, "features", &list->features);
  if (status.ok()) status = ReadItemRows(in, "history", kNoRowOfItem, item_end, &list->history);
  if (status.ok()) status = ReadNumbers(in, "types", &types);
  if (status.ok()) status = ReadNumbers(in, "query", &query);
  if (status.ok()) status = SameCount("gains", list->gains.size(), list->candidates.size());
  if (status.ok()) status = SameCount("features", list->features.size(), list->candidates.size() * columns);
  if (status.ok()) status = SameCount("types", types.size(), list->history.size());
  if (!status.ok()) return status;
  list->user = static_cast<UserNumber>(user);
  list->position = static_cast<LogOffset>(position);
  list->types.assign(types.begin(), types.end());
  list->query.assign(query.begin(), query.end());
  return status;
}

std::string PrintListItem(const RankerItems::Known& item) {
  storage::Example out;
  NumbersOf(&out, "row")->Add(RowOfItem(item.item));
  (*out.mutable_features()->mutable_feature())["id"].mutable_bytes_list()->add_value(item.id);
  NumbersOf(&out, "count")->Add(item.count);
  auto* content = NumbersOf(&out, "content");
  for (uint64_t hash : item.content) content->Add(static_cast<int64_t>(hash));
  return PrintExample(out);
}

absl::Status ParseListItem(std::string_view record, int64_t item_end, RankerItems::Known* item) {
  storage::Example in;
  std::vector<ItemOrdinal> row;
  std::vector<int64_t> content;
  absl::Status status = ParseRecord(record, &in);
  if (status.ok()) status = ReadItemRows(in, "row", kNoRowOfItem, item_end, &row);
  if (status.ok()) status = SameCount("row", row.size(), 1);
  if (status.ok()) status = ReadNumber(in, "count", &item->count);
  if (status.ok()) status = ReadNumbers(in, "content", &content);
  if (!status.ok()) return status;
  const storage::Feature* id = FindFeature(in, "id");
  if (id == nullptr || id->bytes_list().value_size() != 1) return WrongFeature("id", "is not one text");
  item->item = row[0];
  item->id = id->bytes_list().value(0);
  item->content.assign(content.begin(), content.end());
  return status;
}

std::string ListRecordSha256() {
  return Sha256Hex(
      "waymark list record 1\n"
      "user int64 1; time int64 1 microseconds; position int64 1; candidates int64 rows; gains float;\n"
      "features float candidates x columns; history int64 rows, newest first; types int64; query int64\n"
      "item: row int64 1; id bytes 1; count int64 1; content int64 hashes of catalog content\n");
}

}  // namespace waymark
