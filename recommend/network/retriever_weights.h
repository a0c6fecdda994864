// The encoder's weights: one flat buffer, and each tensor a view of it, so that clipping, the optimiser, the
// sum over threads and a checkpoint are one pass over one array. Gradients have the same layout.
//
//   DenseWeights weights(shape);       // zeros
//   weights.blocks[0].input.weight;    // a view
//   weights.flat;                      // [floats]
//
// Includes LibTorch: for recommend/network/ and training/ only.
#pragma once
#include <torch/torch.h>

#include <vector>

#include "absl/status/statusor.h"
#include "recommend/network/encoder_slice.h"
#include "recommend/network/retriever_shape.h"
#include "store/package/safetensors.h"

namespace waymark {

struct LinearWeights {
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out]
};
struct NormWeights {
  at::Tensor weight, bias;  // [width]
};
struct BranchWeights {
  NormWeights norm;
  LinearWeights input, output;
};
struct BlockWeights {
  BranchWeights attention, feed;
  at::Tensor position;  // [heads, history_limit]; entry history_limit - 1 - distance
  at::Tensor time;      // [heads, time_buckets]
};

struct DenseWeights {
  // Of the whole, or of the slice of a process that trains with others; what the slice lacks is undefined,
  // and blocks are counted from its first.
  explicit DenseWeights(const RetrieverShape& shape, const EncoderSlice& slice = {});
  DenseWeights(const DenseWeights&) = delete;
  DenseWeights& operator=(const DenseWeights&) = delete;

  EncoderSlice slice;
  at::Tensor flat;                   // [floats], zeros between tensors that are padded to 64 bytes
  std::vector<NamedShape> names;     // of RetrieverShape::DenseTensors(), with the slice's shapes
  std::vector<PlacedTensor> places;  // of the same
  std::vector<at::Tensor> tensors;   // views, in the order of names
  at::Tensor unknown;                // [width]: stands for the id of an item that has none
  at::Tensor projection;             // [content_width, width]
  std::vector<BlockWeights> blocks;
  NormWeights final_norm;
};

// Weights N(0, .02), biases 0, norms 1 (the recipe of SASRec and LiGR), from `seed`; a slice has the numbers
// of the whole.
void InitializeDense(DenseWeights* weights, uint64_t seed);
at::Tensor InitialTable(const NamedShape& shape, double deviation, uint64_t seed);
// Rows first, first + stride, ... of that table.
at::Tensor InitialRows(const NamedShape& shape, int64_t first, int64_t stride, double deviation,
                       uint64_t seed);

// What a slice holds of a tensor, from the whole of it, and back into it.
at::Tensor OwnOf(const PlacedTensor& place, const at::Tensor& whole);
void PutInto(const PlacedTensor& place, const at::Tensor& own, at::Tensor* whole);

// Between a package's tensors and ours. Reading checks names, types, shapes and that all is finite;
// INVALID_ARGUMENT names the tensor.
void AppendTensors(const DenseWeights& weights, TensorMap* out);
TensorData ToTensorData(const at::Tensor& tensor);
absl::StatusOr<at::Tensor> FromTensorMap(const TensorMap& map, const NamedShape& expected);
absl::Status ReadDense(const TensorMap& map, DenseWeights* weights);
// Refuses tensors that nothing asked for.
absl::Status CheckTensorNames(const TensorMap& map, const RetrieverShape& shape, int64_t items);

}  // namespace waymark
