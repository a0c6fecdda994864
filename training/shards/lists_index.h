// index.json of a folder of shards of ranking lists, and which kind of shards a folder holds.
//
//   absl::StatusOr<std::string> kind = KindOfShards(folder);    // "histories", "lists"
//   absl::StatusOr<storage::ListsIndex> index = ReadListsIndex(folder, RankerFeatures{...});
#pragma once
#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "training/ranker/trained_ranker.h"
#include "waymark/storage/lists.pb.h"

namespace waymark {

inline constexpr char kLists[] = "lists";

// NOT_FOUND: there is no index (says what the folder is then). DATA_LOSS: it cannot be read.
absl::StatusOr<std::string> KindOfShards(const std::filesystem::path& folder);

// Atomic and synced.
absl::Status WriteListsIndex(const std::filesystem::path& folder, const storage::ListsIndex& index);
// `known`: this program's features. FAILED_PRECONDITION: a newer format, or other features, of which the
// first that differs is named.
absl::StatusOr<storage::ListsIndex> ReadListsIndex(const std::filesystem::path& folder,
                                                   const RankerFeatures& known);
// Of the index's contents, the time of its writing left out.
std::string ListsFingerprint(const storage::ListsIndex& index);

}  // namespace waymark
