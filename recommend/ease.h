// EASE (Steck 2019, "Embarrassingly Shallow Autoencoders for Sparse Data", WWW '19): item-item weights in
// closed form. With X [users, items] of ones where a user did something with an item,
//   P = (X^T X + lambda I)^-1,   B = I - P diag(P)^-1,
// a history scores the items s = sum over its events h of decay^age(h) B[h, :]. (The decayed history is ours:
// it makes the order count.)
//
//   auto ease = Ease::Build(interactions, {});
//   (*ease)->Scores(history, absl::MakeSpan(scores));
//
// B takes 4 * items^2 bytes and as much again while it is built, so it is for small catalogues: above
// `max_items` Build refuses. Immutable; thread-safe.
#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "recommend/interactions.h"

namespace waymark {

struct EaseOptions {
  double lambda = 200;
  double history_decay = 0.7;
  size_t history_items = 40;  // 0.7^40 is 6e-7
  size_t max_items = 12500;   // 625 MB
};

class Ease {
 public:
  // Items that occur. RESOURCE_EXHAUSTED over max_items, with the bytes; INVALID_ARGUMENT: a lambda that is
  // not positive.
  static absl::StatusOr<std::shared_ptr<const Ease>> Build(const Interactions& interactions,
                                                           const EaseOptions& options);
  // Ascending; the columns of the scores.
  absl::Span<const ItemOrdinal> items() const { return items_; }
  // How many events it was made from.
  uint64_t events() const { return events_; }
  // The column of an item; -1: not known.
  int64_t ColumnOf(ItemOrdinal item) const;
  // history: oldest first; out: [items().size()]. False: nothing of the history is known, and out is zero.
  bool Scores(absl::Span<const ItemOrdinal> history, absl::Span<float> out) const;
  // The same for some items only: NaN for those that are not known. out: [wanted].
  bool ScoresOf(absl::Span<const ItemOrdinal> history, absl::Span<const ItemOrdinal> wanted,
                absl::Span<float> out) const;

  // Durable form with magic, version and checksum; `position`: how far the log had been taken in.
  absl::Status Save(const std::filesystem::path& file, LogOffset position) const;
  static absl::StatusOr<std::shared_ptr<const Ease>> Open(const std::filesystem::path& file,
                                                          const EaseOptions& options, LogOffset* position);

 private:
  Ease() = default;
  struct Asked {
    size_t row;
    float weight;
  };
  std::vector<Asked> Ask(absl::Span<const ItemOrdinal> history) const;

  EaseOptions options_;
  uint64_t events_ = 0;
  std::vector<ItemOrdinal> items_;
  std::vector<float> weights_;  // B: [items, items]
};

}  // namespace waymark
