#include "training/distributed/mesh/placement_table.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "training/distributed/mesh/placement_text.h"
#include "training/retriever/retriever_model.h"

namespace waymark {
namespace {

std::string RanksOf(const MeshShape& mesh, int slice) {
  return absl::StrCat(mesh.data > 1 ? "ranks " : "rank ", absl::StrJoin(mesh.SameSlice(slice), ", "));
}

std::string WhereOf(const PlacementInput& input, const PlacedTensor& tensor, int slice) {
  if (input.mesh.pipeline > 1) return absl::StrCat("stage ", slice + 1, ": ", RanksOf(input.mesh, slice));
  if (tensor.copied) return "on every rank";
  const std::string ranks = absl::StrCat(", over ", input.mesh.tensor, " ranks");
  return (tensor.columns < tensor.whole_columns() ? "columns" : "rows") + ranks;
}

// Appends it, or joins it to the line of the block before.
void AppendLine(const PlacedTensor& tensor, const std::string& where, std::vector<PlacementLine>* lines) {
  std::string name = tensor.whole.name;
  int block = -1;
  if (absl::StartsWith(name, "blocks.")) {
    const std::vector<std::string> words = absl::StrSplit(name, absl::MaxSplits('.', 2));
    block = std::stoi(words[1]);
    name = words[2];
  }
  for (PlacementLine& line : *lines) {
    if (block >= 0 && line.name == name && line.where == where && line.last_block == block - 1) {
      line.last_block = block;
      return;
    }
  }
  lines->push_back(
      {name, absl::StrJoin(tensor.whole.shape, "x"), where, tensor.whole.elements(), block, block});
}

ModelShare ShareOfSlice(const PlacementInput& input, int slice) {
  ModelShare share;
  share.encoder = input.mesh.SliceOf(input.shape, slice);
  if (input.share_rows) share.rows.stride = input.mesh.data;
  if (input.shard_optimizer) share.moments.stride = input.mesh.data;
  return share;
}

}  // namespace

HeldNumbers HeldBySlice(const PlacementInput& input, int slice) {
  const ModelShare share = ShareOfSlice(input, slice);
  HeldNumbers held;
  // As the flat buffer has them: padded to 64 bytes.
  for (const PlacedTensor& tensor : TensorsOfSlice(input.shape, share.encoder)) {
    held.encoder += (tensor.own().elements() + 15) / 16 * 16;
  }
  held.moments = 2 * share.MomentsOf(held.encoder).count;
  if (!share.encoder.items) return held;
  const int64_t width = input.shape.width, buckets = input.shape.content_buckets,
                content_width = input.shape.content_width;
  const auto numbers = [&](RowShare of) {
    return of.rows(input.id_rows) * width + of.rows(buckets) * content_width;
  };
  held.tables = numbers(share.rows);
  held.moments += 2 * numbers(share.MomentsOfRows());
  return held;
}

std::string PlacementTable(const PlacementInput& input) {
  std::vector<PlacementLine> lines;
  const std::string everywhere =
      input.mesh.pipeline > 1 ? absl::StrCat("stage 1: ", RanksOf(input.mesh, 0)) : "on every rank";
  for (const NamedShape& table : input.shape.Tables(input.id_rows)) {
    const bool shared = input.share_rows && input.mesh.data > 1;
    lines.push_back({table.name, absl::StrJoin(table.shape, "x"),
                     shared ? absl::StrCat("rows, over the ", input.mesh.data, " ranks of data") : everywhere,
                     table.elements(), -1, -1});
  }
  const int slices = input.mesh.pipeline > 1 ? input.mesh.pipeline : 1;
  for (int slice = 0; slice < slices; ++slice) {
    for (const PlacedTensor& tensor : TensorsOfSlice(input.shape, input.mesh.SliceOf(input.shape, slice))) {
      AppendLine(tensor, WhereOf(input, tensor, slice), &lines);
    }
  }
  std::string text = PlacementText(absl::StrCat("parameters of --mesh ", input.mesh.Text()), lines);
  for (int slice = 0; slice < input.mesh.slices(); ++slice) {
    const HeldNumbers held = HeldBySlice(input, slice);
    absl::StrAppendFormat(&text, "\n  %s: encoder %s, tables %s, Adam's moments %s",
                          RanksOf(input.mesh, slice), GroupedDigits(held.encoder), GroupedDigits(held.tables),
                          GroupedDigits(held.moments));
    if (input.mesh.data > 1) text += " each";
  }
  return text;
}

}  // namespace waymark
