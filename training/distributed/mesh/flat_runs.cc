#include "training/distributed/mesh/flat_runs.h"

#include <algorithm>

namespace waymark {
namespace {

constexpr int64_t kPaddedTo = 16;  // floats, as in DenseWeights

int64_t Padded(int64_t n) { return (n + kPaddedTo - 1) / kPaddedTo * kPaddedTo; }

void AppendRuns(const PlacedTensor& tensor, int64_t whole, int64_t own, std::vector<FlatRun>* runs) {
  const int64_t columns = tensor.whole_columns();
  for (const PlacedTensor::Rows& range : tensor.rows) {
    const bool full = tensor.columns == columns;
    const int64_t count = full ? range.count * columns : tensor.columns;
    for (int64_t r = 0; r < (full ? 1 : range.count); ++r, own += count) {
      runs->push_back({whole + (range.first + r) * columns + tensor.first_column, own, count});
    }
  }
}

}  // namespace

int64_t WholeFloats(const RetrieverShape& shape) {
  int64_t floats = 0;
  for (const NamedShape& tensor : shape.DenseTensors()) floats += Padded(tensor.elements());
  return floats;
}

std::vector<FlatRun> RunsOfSlice(const RetrieverShape& shape, const EncoderSlice& slice, bool copied) {
  std::vector<int64_t> starts;
  int64_t whole = 0, own = 0;
  for (const NamedShape& tensor : shape.DenseTensors()) {
    starts.push_back(whole);
    whole += Padded(tensor.elements());
  }
  std::vector<FlatRun> runs;
  for (const PlacedTensor& tensor : TensorsOfSlice(shape, slice)) {
    if (copied || !tensor.copied) AppendRuns(tensor, starts[tensor.number], own, &runs);
    own += Padded(tensor.own().elements());
  }
  return runs;
}

std::vector<FlatRun> ClipRuns(const std::vector<FlatRun>& runs, FlatSlice share) {
  std::vector<FlatRun> clipped;
  for (const FlatRun& run : runs) {
    const int64_t first = std::max(run.own, share.first),
                  last = std::min(run.own + run.count, share.first + share.count);
    if (first < last) clipped.push_back({run.whole + first - run.own, first - share.first, last - first});
  }
  return clipped;
}

std::vector<RunMatrix> JoinRuns(const std::vector<FlatRun>& runs) {
  std::vector<RunMatrix> matrices;
  for (const FlatRun& run : runs) {
    if (!matrices.empty()) {
      RunMatrix& last = matrices.back();
      const int64_t stride = run.whole - (last.first.whole + (last.rows - 1) * last.stride);
      const bool follows = run.count == last.first.count && run.own == last.first.own + last.rows * run.count;
      if (follows && stride > 0 && (last.rows == 1 || stride == last.stride)) {
        last.stride = stride;
        ++last.rows;
        continue;
      }
    }
    matrices.push_back({run, 1, 1});
  }
  return matrices;
}

}  // namespace waymark
