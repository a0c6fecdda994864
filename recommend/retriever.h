// The retriever: a causal attention encoder turns a history into a user vector; items have vectors of the
// same space (id embedding + hashed content, so that a new item has one too). Score = cosine. Loaded from a
// model package.
//
// LibTorch stays behind this header (recommend/network/). Thread-safe; one intra-op thread a call.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "candidates/item_directory.h"
#include "store/history.h"
#include "store/package/model_package.h"

namespace waymark {

class Retriever {
 public:
  // Checks the package (kind, network, tensor shapes, finite weights); DATA_LOSS or INVALID_ARGUMENT name
  // what is wrong.
  static absl::StatusOr<std::unique_ptr<Retriever>> Load(const ModelPackage& package,
                                                         const ItemDirectory* items);
  virtual ~Retriever() = default;

  virtual const std::string& content_sha256() const = 0;
  virtual const std::string& version() const = 0;
  virtual int width() const = 0;
  virtual int history_limit() const = 0;
  // out: [width], unit length. `history`: oldest first; only the newest history_limit() count.
  virtual absl::Status EncodeUser(absl::Span<const HistoryEvent> history, absl::Time now,
                                  absl::Span<float> out) const = 0;
  // Many at once, for training and evaluation: out [histories, width].
  virtual absl::Status EncodeUsers(const std::vector<std::vector<HistoryEvent>>& histories, absl::Time now,
                                   absl::Span<float> out) const = 0;
  // out: [items, width], unit length. Items of the package's vocabulary have learned vectors; others get
  // theirs from content.
  virtual absl::Status EmbedItems(absl::Span<const ItemOrdinal> items, absl::Span<float> out) const = 0;
};

}  // namespace waymark
