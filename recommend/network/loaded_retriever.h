// The class behind recommend/retriever.h: a package's weights, bound to the items of this folder.
//
// Vectors of the vocabulary's items are made when it is loaded, from their id embedding and their content as
// it is then. Other items get theirs from content when they are first asked for; a bounded cache keeps them,
// and EmbedItems always makes them anew (it is called when an item changes).
//
// Includes LibTorch: for recommend/network/ only.
#pragma once
#include <torch/torch.h>

#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "recommend/network/encoder.h"
#include "recommend/network/item_encoder.h"
#include "recommend/retriever.h"

namespace waymark {

class LoadedRetriever : public Retriever {
 public:
  // Reads and checks the package's weights and vocabulary. `items` may be null: then no item has content
  // here, and none can be named.
  static absl::StatusOr<std::unique_ptr<LoadedRetriever>> Make(const ModelPackage& package,
                                                               const ItemDirectory* items);

  const std::string& content_sha256() const override { return content_sha256_; }
  const std::string& version() const override { return version_; }
  int width() const override { return shape_.width; }
  int history_limit() const override { return shape_.history_limit; }
  absl::Status EncodeUser(absl::Span<const HistoryEvent> history, absl::Time now,
                          absl::Span<float> out) const override;
  absl::Status EncodeUsers(const std::vector<std::vector<HistoryEvent>>& histories, absl::Time now,
                           absl::Span<float> out) const override;
  absl::Status EmbedItems(absl::Span<const ItemOrdinal> items, absl::Span<float> out) const override;

 private:
  LoadedRetriever(const ModelPackage& package, const RetrieverShape& shape, const ItemDirectory* items);
  absl::Status Read(const ModelPackage& package);
  void BindVocabulary(const std::vector<std::string>& vocabulary, const at::Tensor& id);
  // Of unit length or not, as they go into the encoder; out: [items, width].
  void ContentVectors(absl::Span<const ItemOrdinal> items, float* out) const;
  void Vectors(absl::Span<const ItemOrdinal> items, float* out) const;
  absl::Status Encode(absl::Span<const absl::Span<const HistoryEvent>> histories, float* out) const;

  std::string content_sha256_, version_;
  RetrieverShape shape_;
  const ItemDirectory* items_;
  DenseWeights dense_;
  at::Tensor buckets_;
  Encoder encoder_;
  at::Tensor vectors_;           // [vocabulary items that this folder has, width]
  std::vector<int32_t> row_of_;  // [items.End()]: row of vectors_, or -1
  mutable std::shared_mutex mutex_;
  mutable absl::flat_hash_map<ItemOrdinal, std::vector<float>> others_;
};

}  // namespace waymark
