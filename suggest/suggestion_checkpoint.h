// What is kept of suggestions between two starts, in DATA/suggest/<tenant>-<collection>: `lists` (titles and
// values) and `queries` (who asked what), each with the log position that it has reached.
//
// Own format: magic, version, checksum (recommend/checked_file.h). What is missing is made anew; what is
// damaged is set aside as <file>.damaged first; what a newer program wrote is left alone and not read.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "suggest/past_queries.h"
#include "suggest/suggestion_lists.h"

namespace waymark {

std::filesystem::path SuggestFolder(const std::filesystem::path& data, Scope scope);

absl::Status SaveLists(const std::filesystem::path& folder, const SuggestionLists& lists);
// NOT_FOUND: none; DATA_LOSS: damaged; FAILED_PRECONDITION: newer.
absl::StatusOr<std::shared_ptr<const SuggestionLists>> LoadLists(const std::filesystem::path& folder);

struct QueriesReach {
  LogOffset position = 0;  // of the log
  int64_t served_us = 0;   // of the log of served lists
};
absl::Status SaveQueries(const std::filesystem::path& folder, const PastQueries& queries, QueriesReach reach);
// Errors as above; then `queries` is not to be used.
absl::StatusOr<QueriesReach> LoadQueries(const std::filesystem::path& folder, PastQueries* queries);

// After an error of a load: sets the file aside when it is damaged. Why it is made anew; empty: it is not
// there.
std::string SetAsideFile(const std::filesystem::path& folder, const std::string& name,
                         const absl::Status& error);
// What was set aside, when it must not be kept: it may name somebody who was erased.
absl::Status RemoveSetAside(const std::filesystem::path& folder, const std::string& name);
inline constexpr char kListsFile[] = "lists", kQueriesFile[] = "queries";

}  // namespace waymark
