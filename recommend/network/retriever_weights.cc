#include "recommend/network/retriever_weights.h"

#include <cmath>
#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "recommend/network/counter_random.h"

namespace waymark {
namespace {

constexpr double kDeviation = 0.02;
constexpr int64_t kAlign = 16;  // floats: 64 bytes, what LibTorch's own allocations have

bool EndsWith(const std::string& text, const char* end) {
  const size_t n = std::strlen(end);
  return text.size() >= n && text.compare(text.size() - n, n, end) == 0;
}

// Box-Muller from counters: the same on every machine and with any number of threads. `first`: place of
// out[0] in the whole tensor.
void FillNormal(float* out, int64_t count, double deviation, uint64_t key, int64_t first = 0) {
  for (int64_t n = 0; n < count; ++n) {
    const int64_t i = first + n;
    const double radius = std::sqrt(-2 * std::log(1 - RandomUnit(key, 2 * i)));
    out[n] = static_cast<float>(deviation * radius * std::cos(2 * M_PI * RandomUnit(key, 2 * i + 1)));
  }
}

}  // namespace

DenseWeights::DenseWeights(const RetrieverShape& shape, const EncoderSlice& slice_in)
    : slice(slice_in), places(TensorsOfSlice(shape, slice)) {
  const auto padded = [](int64_t n) { return (n + kAlign - 1) / kAlign * kAlign; };
  int64_t total = 0;
  for (const PlacedTensor& place : places) {
    names.push_back(place.own());
    total += padded(names.back().elements());
  }
  flat = at::zeros({total}, at::kFloat);
  int64_t at = 0;
  for (const NamedShape& name : names) {
    tensors.push_back(flat.narrow(0, at, name.elements()).view(name.shape));
    at += padded(name.elements());
  }
  size_t next = 0;
  if (slice.items) {
    unknown = tensors[next++];
    projection = tensors[next++];
  }
  for (int b = 0; b < slice.blocks(shape); ++b) {
    BlockWeights block;
    block.attention.norm = {tensors[next], tensors[next + 1]};
    block.attention.input = {tensors[next + 2], tensors[next + 3]};
    block.position = tensors[next + 4];
    block.time = tensors[next + 5];
    block.attention.output = {tensors[next + 6], tensors[next + 7]};
    block.feed.norm = {tensors[next + 8], tensors[next + 9]};
    block.feed.input = {tensors[next + 10], tensors[next + 11]};
    block.feed.output = {tensors[next + 12], tensors[next + 13]};
    next += 14;
    blocks.push_back(block);
  }
  if (slice.final_norm) final_norm = {tensors[next], tensors[next + 1]};
}

void InitializeDense(DenseWeights* weights, uint64_t seed) {
  weights->flat.zero_();
  for (size_t t = 0; t < weights->names.size(); ++t) {
    const std::string& name = weights->names[t].name;
    if (EndsWith(name, "norm.weight")) {
      weights->tensors[t].fill_(1.0);
    } else if (!EndsWith(name, "bias") && !EndsWith(name, ".position") && !EndsWith(name, ".time")) {
      const PlacedTensor& place = weights->places[t];
      const uint64_t key = RandomKey(seed, {0x1717, place.number});
      float* out = weights->tensors[t].data_ptr<float>();
      for (const PlacedTensor::Rows& rows : place.rows) {
        for (int64_t r = rows.first; r < rows.first + rows.count; ++r, out += place.columns) {
          FillNormal(out, place.columns, kDeviation, key, r * place.whole_columns() + place.first_column);
        }
      }
    }
  }
}

at::Tensor OwnOf(const PlacedTensor& place, const at::Tensor& whole) {
  std::vector<at::Tensor> rows;
  for (const PlacedTensor::Rows& range : place.rows)
    rows.push_back(whole.narrow(0, range.first, range.count));
  const at::Tensor own = rows.size() == 1 ? rows[0] : at::cat(rows);
  return own.dim() > 1 ? own.narrow(1, place.first_column, place.columns) : own;
}

void PutInto(const PlacedTensor& place, const at::Tensor& own, at::Tensor* whole) {
  int64_t next = 0;
  for (const PlacedTensor::Rows& range : place.rows) {
    at::Tensor to = whole->narrow(0, range.first, range.count);
    if (to.dim() > 1) to = to.narrow(1, place.first_column, place.columns);
    to.copy_(own.narrow(0, next, range.count));
    next += range.count;
  }
}

at::Tensor InitialTable(const NamedShape& shape, double deviation, uint64_t seed) {
  return InitialRows(shape, 0, 1, deviation, seed);
}

at::Tensor InitialRows(const NamedShape& shape, int64_t first, int64_t stride, double deviation,
                       uint64_t seed) {
  const int64_t all = shape.shape[0], columns = shape.shape[1];
  const int64_t rows = all <= first ? 0 : (all - first + stride - 1) / stride;
  at::Tensor table = at::zeros({rows, columns}, at::kFloat);
  const uint64_t key = RandomKey(seed, {0x7ab1e});
  for (int64_t r = 0; r < rows && deviation > 0; ++r) {
    FillNormal(table.data_ptr<float>() + r * columns, columns, deviation, key,
               (first + r * stride) * columns);
  }
  return table;
}

TensorData ToTensorData(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.contiguous();
  return TensorData::F32(dense.sizes().vec(),
                         absl::MakeConstSpan(dense.data_ptr<float>(), static_cast<size_t>(dense.numel())));
}

void AppendTensors(const DenseWeights& weights, TensorMap* out) {
  for (size_t t = 0; t < weights.names.size(); ++t) {
    (*out)[weights.names[t].name] = ToTensorData(weights.tensors[t]);
  }
}

absl::StatusOr<at::Tensor> FromTensorMap(const TensorMap& map, const NamedShape& expected) {
  const auto found = map.find(expected.name);
  if (found == map.end()) {
    return absl::InvalidArgumentError(absl::StrCat("the weights lack the tensor '", expected.name, "'"));
  }
  const TensorData& data = found->second;
  if (data.type != TensorData::Type::kF32 || data.shape != expected.shape) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the tensor '", expected.name, "' must be F32 of shape [", absl::StrJoin(expected.shape, ", "),
        "], and is ", data.type == TensorData::Type::kF32 ? "F32" : "of another type", " of shape [",
        absl::StrJoin(data.shape, ", "), "]"));
  }
  const absl::Span<const float> values = data.floats();
  at::Tensor tensor = at::empty(expected.shape, at::kFloat);
  std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return absl::InvalidArgumentError(absl::StrCat("the tensor '", expected.name, "' holds ", values[i],
                                                     " at position ", i, "; weights must be finite"));
    }
  }
  return tensor;
}

absl::Status ReadDense(const TensorMap& map, DenseWeights* weights) {
  for (size_t t = 0; t < weights->names.size(); ++t) {
    absl::StatusOr<at::Tensor> tensor = FromTensorMap(map, weights->places[t].whole);
    if (!tensor.ok()) return tensor.status();
    weights->tensors[t].copy_(OwnOf(weights->places[t], *tensor));
  }
  return absl::OkStatus();
}

absl::Status CheckTensorNames(const TensorMap& map, const RetrieverShape& shape, int64_t items) {
  std::set<std::string> known;
  for (const NamedShape& tensor : shape.DenseTensors()) known.insert(tensor.name);
  for (const NamedShape& tensor : shape.Tables(items)) known.insert(tensor.name);
  for (const auto& [name, tensor] : map) {
    if (!known.contains(name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the weights hold a tensor '", name, "' that a retriever does not have"));
    }
  }
  return absl::OkStatus();
}

}  // namespace waymark
