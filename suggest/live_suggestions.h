// The suggestions of one collection, kept up with its log.
//
//   auto suggestions = LiveSuggestions::Open(parts, {});
//   auto answer = suggestions->Suggest({.query = "sta"}, deadline);
//
// A thread of its own follows the log and the log of served lists. Items that change come into small lists
// beside the large ones, once a refresh interval; the large ones are made anew on another thread, beside
// those that serve, when much has changed, and every few minutes with the weights of then. The thread starts
// with the first question (or Start()), so that commands that ask nothing pay nothing.
//
// Past queries come from `search` events and from served searches (first pages with words that found
// something), of users that are known; who asked what is kept in suggest/past_queries.h. A query is shown
// once it has been tried: it must find something; it is tried again every ten minutes.
//
// Files: DATA/suggest/<tenant>-<collection> (suggestion_checkpoint.h). Thread-safe.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "suggest/past_queries.h"
#include "suggest/suggestion_answer.h"
#include "suggest/suggestion_lists.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

struct SuggestionParts {
  ListParts lists;
  // Whether a search for these words finds something, and is not taken for misspelled.
  // `position`: what the log holds so far must be searched.
  std::function<absl::StatusOr<bool>(const std::string& words, LogOffset position)> finds;
  // What was served from a time on, oldest first; null: nothing is logged.
  std::function<absl::Status(absl::Time not_before,
                             const std::function<bool(const storage::ServeRecord&)>& visit)>
      served;
};

struct SuggestionOptions {
  PastQueryOptions queries;
  absl::Duration refresh_interval = absl::Seconds(1);
  // How often the large lists get the weights of the time.
  absl::Duration weights_interval = absl::Minutes(5);
  absl::Duration served_interval = absl::Seconds(5);
  // Items beside the large lists, from which on those are made anew.
  size_t tail_items = 8192;
  bool read_only = false;  // writes no files
};

class LiveSuggestions {
 public:
  // Reads nothing yet.
  static std::unique_ptr<LiveSuggestions> Open(SuggestionParts parts, const SuggestionOptions& options);
  ~LiveSuggestions();

  // Starts the thread; once is enough.
  void Start();
  bool started() const;
  // Waits until the log up to `offset`, and what was served until now, is suggested from. DEADLINE_EXCEEDED.
  absl::Status CatchUpTo(LogOffset offset, absl::Time until);
  // Waits until erasures up to `offset` are carried out: nothing of theirs is suggested, or kept on the disk.
  absl::Status AwaitErased(LogOffset offset, absl::Time until);
  // INVALID_ARGUMENT names the field; DEADLINE_EXCEEDED: the lists are made for the first time.
  absl::StatusOr<SuggestAnswer> Suggest(const SuggestRequest& request, Deadline deadline);
  // suggest/asked_instead.h; empty also while the lists are not made yet. Never waits.
  std::string AskedInstead(std::string_view query, Deadline deadline) const;
  // Writes the files, when there is something to write.
  absl::Status Checkpoint();
  SuggestionStatus status() const;

 private:
  class Impl;
  explicit LiveSuggestions(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace waymark
