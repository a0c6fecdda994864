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

// The rows of the id table that a process holds: first, first + stride, ... of all.
struct RowShare {
  int64_t first = 0, stride = 1;
  int64_t rows(int64_t of) const { return of <= first ? 0 : (of - first + stride - 1) / stride; }
};

struct RetrieverModel {
  // Every row begins with the same values whatever the share.
  RetrieverModel(const RetrieverShape& shape, int64_t items, uint64_t seed, RowShare share = {});

  RetrieverShape shape;
  DenseWeights dense;
  ItemTables tables;
  AdamMoments dense_moments, id_moments, bucket_moments;

  // These want a model that holds all rows.
  TensorMap Weights() const;
  absl::Status ReadWeights(const TensorMap& tensors);
  // Takes over the weights of a package of the same shape: the encoder, the content, and the id embeddings of
  // the items that both vocabularies name. INVALID_ARGUMENT when the shapes differ.
  absl::Status StartFrom(const ModelPackage& package, const RetrieverCorpus& corpus);
};

}  // namespace waymark
