// A retriever in training: its weights and the optimiser's moments, and how they come from a package and go
// into one. Includes LibTorch: for training/ only.
#pragma once
#include <memory>

#include "absl/status/statusor.h"
#include "recommend/network/item_encoder.h"
#include "store/package/model_package.h"
#include "training/retriever/retriever_corpus.h"
#include "training/retriever/row_adam.h"

namespace waymark {

struct AdamMoments {
  at::Tensor first, second;  // the shape of the weights
  explicit AdamMoments(const at::Tensor& weights)
      : first(at::zeros_like(weights)), second(at::zeros_like(weights)) {}
  // weights: [rows, columns]; another tensor is one row.
  AdamTable Table(const at::Tensor& weights) const;
};

struct RetrieverModel {
  RetrieverModel(const RetrieverShape& shape, int64_t items, uint64_t seed);

  RetrieverShape shape;
  DenseWeights dense;
  ItemTables tables;
  AdamMoments dense_moments, id_moments, bucket_moments;

  TensorMap Weights() const;
  absl::Status ReadWeights(const TensorMap& tensors);
  // Takes over the weights of a package of the same shape: the encoder, the content, and the id embeddings of
  // the items that both vocabularies name. INVALID_ARGUMENT when the shapes differ.
  absl::Status StartFrom(const ModelPackage& package, const RetrieverCorpus& corpus);
};

}  // namespace waymark
