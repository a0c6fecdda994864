// What a retriever is trained on, with items as rows of the vocabulary: the items that the training events
// name, in the order of their ordinals.
//
//   absl::StatusOr<RetrieverCorpus> corpus = MakeRetrieverCorpus(interactions, items, options);
//   corpus->vocabulary[corpus->rows[e]];  // the id of event e's item
//
// Borrows the interactions.
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "candidates/item_directory.h"
#include "recommend/interactions.h"
#include "recommend/network/item_encoder.h"
#include "training/retriever/retriever_options.h"

namespace waymark {

struct RetrieverCorpus {
  const Interactions* interactions = nullptr;
  std::vector<std::string> vocabulary;  // [items]
  ContentBuckets content;               // of the vocabulary's items
  std::vector<int64_t> rows;            // [events]; kNoRow: held out, and not among the training events
  std::vector<uint64_t> ends;           // [users]: training events of u are [starts[u], ends[u])
  size_t training_events = 0;
  // [items]: of the id table, or kNoRow (dynamic_vocabulary.h); null: an item's row is its own number.
  const std::vector<int64_t>* id_rows = nullptr;
  // Changes with the events, the content and every option that the result depends on.
  std::string fingerprint;

  int64_t IdRow(int64_t item) const { return id_rows == nullptr ? item : (*id_rows)[item]; }
  uint64_t start(size_t u) const { return interactions->starts[u]; }
  // The held-out event that is predicted from [start, ends[u]), or kNoRow when there is none or its item is
  // not in the vocabulary.
  bool has_target(size_t u) const { return ends[u] > start(u) && ends[u] < interactions->starts[u + 1]; }
  int64_t target(size_t u) const { return rows[ends[u]]; }
};

// FAILED_PRECONDITION when fewer than two items or no pair of events in a row are left to learn from.
absl::StatusOr<RetrieverCorpus> MakeRetrieverCorpus(const Interactions& interactions,
                                                    const ItemDirectory& items,
                                                    const RetrieverOptions& options);

}  // namespace waymark
