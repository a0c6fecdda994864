#include "training/shards/history_example.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "store/package/model_package.h"
#include "training/shards/example_features.h"

namespace waymark {
std::string PrintHistory(const HistoryExample& example) {
  storage::Example out;
  NumbersOf(&out, "user")->Add(static_cast<int64_t>(example.user));
  NumbersOf(&out, "items")->Add(example.rows.begin(), example.rows.end());
  NumbersOf(&out, "times")->Add(example.times_us.begin(), example.times_us.end());
  NumbersOf(&out, "held_out")->Add(static_cast<int64_t>(example.held_out));
  return PrintExample(out);
}

absl::Status ParseHistory(std::string_view record, int64_t items, HistoryExample* example) {
  storage::Example in;
  if (!in.ParseFromArray(record.data(), static_cast<int>(record.size()))) {
    return absl::DataLossError("is no tf.train.Example");
  }
  int64_t user = 0, held_out = 0;
  absl::Status status = ReadNumber(in, "user", &user);
  if (status.ok()) status = ReadNumber(in, "held_out", &held_out);
  if (status.ok()) status = ReadNumbers(in, "items", &example->rows);
  if (status.ok()) status = ReadNumbers(in, "times", &example->times_us);
  if (!status.ok()) return status;
  if (example->rows.size() != example->times_us.size()) {
    return WrongFeature("times", absl::StrCat("has ", example->times_us.size(), " values for ",
                                              example->rows.size(), " items"));
  }
  if (held_out < 0 || held_out > static_cast<int64_t>(example->rows.size())) {
    return WrongFeature("held_out", absl::StrCat("is ", held_out, " of ", example->rows.size(), " events"));
  }
  example->user = static_cast<uint64_t>(user);
  example->held_out = static_cast<size_t>(held_out);
  const size_t trained = example->rows.size() - example->held_out;
  for (size_t i = 0; i < example->rows.size(); ++i) {
    const int64_t row = example->rows[i];
    // Only what is held out may be unknown to the items.
    if (row < (i < trained ? 0 : -1) || row >= items) {
      return WrongFeature("items", absl::StrCat("names row ", row, " of ", items));
    }
  }
  return absl::OkStatus();
}

std::string PrintItem(const ItemRecord& item) {
  storage::Example out;
  (*out.mutable_features()->mutable_feature())["id"].mutable_bytes_list()->add_value(item.id);
  auto* content = NumbersOf(&out, "content");
  for (uint64_t hash : item.content) content->Add(static_cast<int64_t>(hash));
  return PrintExample(out);
}

absl::Status ParseItem(std::string_view record, ItemRecord* item) {
  storage::Example in;
  if (!in.ParseFromArray(record.data(), static_cast<int>(record.size()))) {
    return absl::DataLossError("is no tf.train.Example");
  }
  const storage::Feature* id = FindFeature(in, "id");
  if (id == nullptr || id->bytes_list().value_size() != 1) return WrongFeature("id", "is not one text");
  item->id = id->bytes_list().value(0);
  std::vector<int64_t> content;
  absl::Status status = ReadNumbers(in, "content", &content);
  if (!status.ok()) return status;
  item->content.assign(content.begin(), content.end());
  return status;
}

const std::vector<std::string>& HistoryFeatures() {
  static const auto* features = new std::vector<std::string>{"user", "items", "times", "held_out"};
  return *features;
}

std::string HistoryFeaturesSha256() {
  return Sha256Hex(absl::StrCat(absl::StrJoin(HistoryFeatures(), "\n"),
                                "\nint64 1; rows of items, oldest first; microseconds; int64 1\n",
                                "items: id bytes 1; content int64 hashes of catalog content\n"));
}

}  // namespace waymark
