#include "recommend/network/encoder_slice.h"

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr size_t kItemTensors = 2, kBlockTensors = 14;

// How the tensors of a block are cut, in the order of DenseTensors().
enum class Cut { kCopied, kQkvg, kHeads, kWidthColumns, kUpGate, kHiddenColumns };
constexpr Cut kCuts[kBlockTensors] = {
    Cut::kCopied,        Cut::kCopied,  // attention.norm
    Cut::kQkvg,          Cut::kQkvg,    // attention.input
    Cut::kHeads,         Cut::kHeads,   // position, time
    Cut::kWidthColumns,  Cut::kCopied,  // attention.output
    Cut::kCopied,        Cut::kCopied,  // feed.norm
    Cut::kUpGate,        Cut::kUpGate,  // feed.input
    Cut::kHiddenColumns, Cut::kCopied,  // feed.output
};

void CutTensor(const RetrieverShape& shape, const EncoderSlice& slice, Cut cut, PlacedTensor* tensor) {
  if (slice.parts == 1 || cut == Cut::kCopied) return;
  tensor->copied = false;
  const int64_t part = slice.part, width = shape.width / slice.parts, hidden = shape.hidden / slice.parts,
                heads = shape.heads / slice.parts;
  switch (cut) {
    case Cut::kQkvg:
      tensor->rows.clear();
      for (int64_t i = 0; i < 4; ++i) tensor->rows.push_back({i * shape.width + part * width, width});
      break;
    case Cut::kHeads:
      tensor->rows = {{part * heads, heads}};
      break;
    case Cut::kUpGate:
      tensor->rows = {{part * hidden, hidden},
                      {shape.hidden + part * hidden, hidden},
                      {2 * static_cast<int64_t>(shape.hidden) + part * width, width}};
      break;
    case Cut::kWidthColumns:
      tensor->first_column = part * width;
      tensor->columns = width;
      break;
    case Cut::kHiddenColumns:
      tensor->first_column = part * hidden;
      tensor->columns = hidden;
      break;
    case Cut::kCopied:
      break;
  }
}

}  // namespace

absl::Status CheckDivides(const RetrieverShape& shape, int parts, int stages) {
  for (const auto& [name, value] : {std::pair{"network.heads", shape.heads},
                                    {"network.hidden", shape.hidden},
                                    {"network.width", shape.width}}) {
    if (value % parts != 0) {
      return absl::InvalidArgumentError(absl::StrCat("a block cannot be spread over ", parts,
                                                     " ranks: ", name, " is ", value, ", no multiple of it"));
    }
  }
  if (shape.blocks < stages) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a pipeline of ", stages, " stages wants as many blocks: ", "network.blocks is ", shape.blocks));
  }
  return absl::OkStatus();
}

EncoderSlice StageSlice(const RetrieverShape& shape, int stage, int stages) {
  EncoderSlice slice;
  slice.first_block = static_cast<int>(static_cast<int64_t>(shape.blocks) * stage / stages);
  slice.last_block = static_cast<int>(static_cast<int64_t>(shape.blocks) * (stage + 1) / stages);
  slice.items = stage == 0;
  slice.final_norm = stage == stages - 1;
  return slice;
}

NamedShape PlacedTensor::own() const {
  int64_t count = 0;
  for (const Rows& range : rows) count += range.count;
  NamedShape shape{whole.name, {count}};
  if (whole.shape.size() > 1) shape.shape.push_back(columns);
  return shape;
}

std::vector<PlacedTensor> TensorsOfSlice(const RetrieverShape& shape, const EncoderSlice& slice) {
  const std::vector<NamedShape> all = shape.DenseTensors();
  const size_t first = kItemTensors + slice.first_block * kBlockTensors,
               last = first + slice.blocks(shape) * kBlockTensors;
  std::vector<PlacedTensor> tensors;
  for (size_t t = 0; t < all.size(); ++t) {
    const bool of_block = t >= first && t < last;
    const bool of_items = t < kItemTensors && slice.items;
    const bool of_end = t >= kItemTensors + shape.blocks * kBlockTensors && slice.final_norm;
    if (!of_block && !of_items && !of_end) continue;
    PlacedTensor tensor;
    tensor.number = t;
    tensor.whole = all[t];
    tensor.rows = {{0, all[t].shape[0]}};
    tensor.columns = tensor.whole_columns();
    if (of_block) CutTensor(shape, slice, kCuts[(t - first) % kBlockTensors], &tensor);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace waymark
