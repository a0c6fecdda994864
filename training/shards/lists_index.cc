#include "training/shards/lists_index.h"

#include <algorithm>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "store/package/model_package.h"
#include "training/shards/examples_index.h"
#include "training/shards/list_example.h"

namespace waymark {
namespace {

absl::StatusOr<storage::ListsIndex> ReadAnyIndex(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "index.json";
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    return absl::NotFoundError(absl::StrCat(
        folder.string(),
        std::filesystem::exists(folder / "export.json", error)
            ? " holds an export that was stopped; the same `waymark export` goes on with it"
            : " holds no training shards (there is no index.json); `waymark export examples` writes those of "
              "a retriever, `waymark export lists` those of a ranker"));
  }
  storage::ListsIndex index;
  if (absl::Status read = ReadSummedMessage(file, &index); !read.ok()) return read;
  return index;
}

// The first column in which the two differ.
std::string FeatureDifference(const storage::ListsIndex& index, const RankerFeatures& known) {
  const size_t has = static_cast<size_t>(index.features_size()), takes = known.names.size();
  for (size_t i = 0; i < std::max(has, takes); ++i) {
    const std::string a = i < has ? index.features(static_cast<int>(i)) : "nothing",
                      b = i < takes ? known.names[i] : "nothing";
    if (a != b) return absl::StrCat("column ", i, " is '", a, "' there and '", b, "' here");
  }
  return "the names are the same, their definitions are not";
}

}  // namespace

absl::StatusOr<std::string> KindOfShards(const std::filesystem::path& folder) {
  auto index = ReadAnyIndex(folder);
  if (!index.ok()) return index.status();
  return index->kind();
}

absl::Status WriteListsIndex(const std::filesystem::path& folder, const storage::ListsIndex& index) {
  storage::ListsIndex out = index;
  out.set_format(index.has_sealing() ? kSealedFormat : kPlainFormat);
  return WriteSummedMessage(folder / "index.json", out);
}

absl::StatusOr<storage::ListsIndex> ReadListsIndex(const std::filesystem::path& folder,
                                                   const RankerFeatures& known) {
  auto index = ReadAnyIndex(folder);
  if (!index.ok()) return index.status();
  const std::string file = (folder / "index.json").string();
  if (index->kind() != kLists) {
    return absl::FailedPreconditionError(
        absl::StrCat(file, " is of the kind '", index->kind(), "', not '", kLists, "'"));
  }
  if (absl::Status checked = CheckIndexFormat(file, index->format(), index->has_sealing(), index->sealing());
      !checked.ok()) {
    return checked;
  }
  if (index->record_sha256() != ListRecordSha256()) {
    return absl::FailedPreconditionError(absl::StrCat(
        file, " has records of another definition than this program reads; export again, or use the program ",
        "of that export"));
  }
  const bool same_names =
      std::equal(index->features().begin(), index->features().end(), known.names.begin(), known.names.end());
  if (!same_names || index->features_sha256() != known.sha256) {
    return absl::FailedPreconditionError(
        absl::StrCat(file, " has other features than this program, which would serve the ranker: ",
                     FeatureDifference(*index, known), "; export again, or use the program of that export"));
  }
  const int columns = index->features_size();
  if (index->feature_mean_size() != columns || index->feature_scale_size() != columns) {
    return absl::DataLossError(absl::StrCat(file, " has ", index->feature_mean_size(), " means and ",
                                            index->feature_scale_size(), " scales of ", columns,
                                            " features"));
  }
  if (index->retriever_sha256().empty()) {
    return absl::DataLossError(absl::StrCat(file, " does not say which retriever its lists belong to"));
  }
  return index;
}

std::string ListsFingerprint(const storage::ListsIndex& index) {
  std::string text;
  for (const auto& file : index.files()) absl::StrAppend(&text, file.name(), " ", file.sha256(), "\n");
  for (const auto& file : index.validation()) absl::StrAppend(&text, file.name(), " ", file.sha256(), "\n");
  absl::StrAppend(&text, index.items().sha256(), " ", index.features_sha256(), " ", index.record_sha256(),
                  " ", index.retriever_sha256(), " ", index.signals_retriever_sha256());
  return Sha256Hex(text);
}

}  // namespace waymark
