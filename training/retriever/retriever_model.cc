#include "training/retriever/retriever_model.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "recommend/network/counter_random.h"

namespace waymark {
namespace {

constexpr double kDeviation = 0.02;

constexpr int64_t kSliceFloats = 16;  // 64 bytes

ItemTables InitialTables(const RetrieverShape& shape, int64_t items, uint64_t seed, const ModelShare& share) {
  if (!share.encoder.items) {
    return {at::zeros({0, shape.width}, at::kFloat), at::zeros({0, shape.content_width}, at::kFloat)};
  }
  const std::vector<NamedShape> names = shape.Tables(items);
  // Buckets begin at zero, so that content that training has never seen says nothing.
  return {InitialRows(names[0], share.rows.first, share.rows.stride, kDeviation, seed),
          InitialRows(names[1], share.rows.first, share.rows.stride, 0, seed)};
}

// What a share holds of a table's row; undefined: another process has it.
at::Tensor OwnRow(const at::Tensor& table, RowShare share, int64_t row) {
  return row % share.stride == share.first ? table[row / share.stride] : at::Tensor();
}

int64_t MomentRows(const ModelShare& share, RowShare of, int64_t all) {
  return share.encoder.items ? of.rows(all) : 0;
}

}  // namespace

AdamTable AdamMoments::Table(const at::Tensor& weights) const {
  return {weights.data_ptr<float>(), first.data_ptr<float>(), second.data_ptr<float>(),
          weights.dim() == 2 ? weights.size(1) : weights.numel()};
}

FlatSlice ModelShare::MomentsOf(int64_t floats) const {
  const int64_t rows = (floats + kSliceFloats - 1) / kSliceFloats;
  const int64_t each = (rows + moments.stride - 1) / moments.stride * kSliceFloats;
  const int64_t first = std::min(floats, moments.first * each);
  return {first, std::min(floats - first, each)};
}

RetrieverModel::RetrieverModel(const RetrieverShape& shape_in, int64_t id_rows, uint64_t seed,
                               const ModelShare& share_in)
    : shape(shape_in),
      share(share_in),
      dense(shape, share.encoder),
      tables(InitialTables(shape, id_rows, seed, share)),
      dense_moments(std::vector<int64_t>{share.MomentsOf(dense.flat.numel()).count}),
      id_moments(std::vector<int64_t>{MomentRows(share, share.MomentsOfRows(), id_rows), shape.width}),
      bucket_moments(std::vector<int64_t>{MomentRows(share, share.MomentsOfRows(), shape.content_buckets),
                                          shape.content_width}) {
  InitializeDense(&dense, seed);
}

void RetrieverModel::BeginRow(int64_t row, int64_t item, uint64_t seed) {
  if (!share.encoder.items) return;
  if (at::Tensor own = OwnRow(tables.id, share.rows, row); own.defined()) {
    own.copy_(InitialRows(shape.Tables(item + 1)[0], item, item + 1, kDeviation, seed)[0]);
  }
  for (at::Tensor* moments : {&id_moments.first, &id_moments.second}) {
    if (at::Tensor own = OwnRow(*moments, share.MomentsOfRows(), row); own.defined()) own.zero_();
  }
}

TensorMap RetrieverModel::Weights() const {
  TensorMap tensors;
  AppendTensors(dense, &tensors);
  tensors["items.id"] = ToTensorData(tables.id);
  tensors["content.buckets"] = ToTensorData(tables.buckets);
  return tensors;
}

absl::Status RetrieverModel::ReadWeights(const TensorMap& tensors) {
  if (absl::Status read = ReadDense(tensors, &dense); !read.ok()) return read;
  const std::vector<NamedShape> names = shape.Tables(tables.id.size(0));
  absl::StatusOr<at::Tensor> id = FromTensorMap(tensors, names[0]);
  if (!id.ok()) return id.status();
  absl::StatusOr<at::Tensor> buckets = FromTensorMap(tensors, names[1]);
  if (!buckets.ok()) return buckets.status();
  tables = {*std::move(id), *std::move(buckets)};
  return absl::OkStatus();
}

absl::Status RetrieverModel::StartFrom(const ModelPackage& package, const RetrieverCorpus& corpus) {
  absl::StatusOr<RetrieverShape> other = RetrieverShape::FromManifest(package.manifest);
  if (!other.ok()) return other.status();
  google::protobuf::Map<std::string, double> ours, theirs;
  shape.ToNetwork(&ours);
  other->ToNetwork(&theirs);
  for (const auto& [key, value] : ours) {
    if (theirs[key] != value) {
      return absl::InvalidArgumentError(absl::StrCat("cannot start from the package in ",
                                                     package.folder.string(), ": its network.", key, " is ",
                                                     theirs[key], ", and ", value, " is wanted"));
    }
  }
  absl::StatusOr<TensorMap> tensors = waymark::ReadWeights(package);
  if (!tensors.ok()) return tensors.status();
  absl::StatusOr<std::vector<std::string>> vocabulary = ReadVocabulary(package, "items");
  if (!vocabulary.ok()) return vocabulary.status();
  if (absl::Status read = ReadDense(*tensors, &dense); !read.ok()) return read;
  if (!share.encoder.items) return absl::OkStatus();
  const std::vector<NamedShape> names = shape.Tables(vocabulary->size());
  absl::StatusOr<at::Tensor> id = FromTensorMap(*tensors, names[0]);
  if (!id.ok()) return id.status();
  absl::StatusOr<at::Tensor> buckets = FromTensorMap(*tensors, names[1]);
  if (!buckets.ok()) return buckets.status();
  // Into the tensor that is there: a step may have been made with it.
  tables.buckets.copy_(buckets->slice(0, share.rows.first, std::nullopt, share.rows.stride));
  absl::flat_hash_map<std::string_view, int64_t> row_of;
  for (size_t i = 0; i < vocabulary->size(); ++i) row_of[(*vocabulary)[i]] = i;
  for (size_t i = 0; i < corpus.vocabulary.size(); ++i) {
    const auto found = row_of.find(corpus.vocabulary[i]);
    const int64_t row = corpus.IdRow(static_cast<int64_t>(i));
    if (found == row_of.end() || row == kNoRow) continue;
    if (at::Tensor own = OwnRow(tables.id, share.rows, row); own.defined()) own.copy_((*id)[found->second]);
  }
  return absl::OkStatus();
}

}  // namespace waymark
