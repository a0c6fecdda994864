// A retriever in training: its weights and the optimiser's moments, and how they come from a package and go
// into one. Includes LibTorch: for training/ only.
#pragma once
#include <memory>

#include "absl/status/statusor.h"
#include "recommend/network/item_encoder.h"
#include "store/package/model_package.h"
#include "training/retriever/retriever_corpus.h"
#include "training/retriever/row_adam.h"
#include "training/row_share.h"

namespace waymark {

struct AdamMoments {
  at::Tensor first, second;  // the shape of the weights, or of this process's share of them
  explicit AdamMoments(at::IntArrayRef shape)
      : first(at::zeros(shape, at::kFloat)), second(at::zeros(shape, at::kFloat)) {}
  // weights: [rows, columns]; another tensor is one row.
  AdamTable Table(const at::Tensor& weights) const;
};

// Floats [first, first + count) of a flat buffer.
struct FlatSlice {
  int64_t first, count;
};

// What of a model a process holds.
struct ModelShare {
  EncoderSlice encoder;  // without items: no tables either
  RowShare rows;         // of the id and the content table
  RowShare moments;      // of the optimiser's moments: process `first` of `stride` has its share

  // Of the flat weights' moments: as much for each process, the last ones perhaps less; multiples of 16.
  FlatSlice MomentsOf(int64_t floats) const;
  // Of the moments of a table; a table that is spread over processes has its moments with its rows.
  RowShare MomentsOfRows() const { return rows.stride > 1 ? rows : moments; }
};

struct RetrieverModel {
  // id_rows: of the id table, which is as many as there are items where each has its own. Every number begins
  // with the same value whatever the share.
  RetrieverModel(const RetrieverShape& shape, int64_t id_rows, uint64_t seed, const ModelShare& share = {});

  // A row of the id table that is an item's from here on: as the table of all items begins for that item, its
  // moments zero. Where this process holds them.
  void BeginRow(int64_t row, int64_t item, uint64_t seed);

  RetrieverShape shape;
  ModelShare share;
  DenseWeights dense;
  ItemTables tables;
  AdamMoments dense_moments, id_moments, bucket_moments;

  // These two want a model that holds all rows and all of the encoder.
  TensorMap Weights() const;
  absl::Status ReadWeights(const TensorMap& tensors);
  // Takes over the weights of a package of the same shape: the encoder, the content, and the id embeddings of
  // the items that both vocabularies name and that have a row; of all this the model's share.
  // INVALID_ARGUMENT when the shapes differ.
  absl::Status StartFrom(const ModelPackage& package, const RetrieverCorpus& corpus);
};

}  // namespace waymark
