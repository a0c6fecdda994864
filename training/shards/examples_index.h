// index.json of a folder of training shards: which files there are, with their hashes and counts, and its own
// in index.json.sha256. A folder without one is an export that has not come to its end.
//
//   absl::StatusOr<storage::ExamplesIndex> index = ReadExamplesIndex(folder);
#pragma once
#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {

inline constexpr char kHistories[] = "histories";
inline constexpr int kPlainFormat = 1, kSealedFormat = 2;  // of either kind of index

// That an index's format is the one of what it holds, and its seal one that can be opened.
absl::Status CheckIndexFormat(const std::filesystem::path& file, int format, bool sealed,
                              const storage::Sealing& sealing);

// Atomic and synced.
absl::Status WriteExamplesIndex(const std::filesystem::path& folder, const storage::ExamplesIndex& index);
// NOT_FOUND: there is none (says what the folder is then). FAILED_PRECONDITION: a newer format, another kind,
// or other features than this program's, which are named. DATA_LOSS: it cannot be read.
absl::StatusOr<storage::ExamplesIndex> ReadExamplesIndex(const std::filesystem::path& folder);
// Of the index's contents, the time of its writing left out.
std::string ExamplesFingerprint(const storage::ExamplesIndex& index);

// A protobuf message as a JSON file of ours.
absl::Status WriteJsonMessage(const std::filesystem::path& file, const google::protobuf::Message& message);
absl::Status ReadJsonMessage(const std::filesystem::path& file, google::protobuf::Message* message);
// The same with FILE.sha256 beside it (`sha256sum -c` reads it): a number that has changed is still JSON.
// DATA_LOSS: the two do not match.
absl::Status WriteSummedMessage(const std::filesystem::path& file, const google::protobuf::Message& message);
absl::Status ReadSummedMessage(const std::filesystem::path& file, google::protobuf::Message* message);

}  // namespace waymark
