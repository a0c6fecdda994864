#include "training/distributed/mesh/memory_need.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "training/retriever/pipeline_schedule.h"
#include "training/retriever/retriever_validation.h"

namespace waymark {
namespace {

constexpr int64_t kFloatBytes = sizeof(float);
constexpr double kLargerPart = 1.25;
constexpr int64_t kGroupBytes = int64_t{40} << 20;  // of a group of ranks over Gloo: its threads above all
constexpr double kBucketsOfItem = 16;
constexpr double kValidationUserFloats = 32;  // best scores and what holds them
constexpr int64_t kEventBytes = 24;           // row, time, and what windows and users add
// What each rank knows of an item beside rows: its name, its places in batches; and what a package's list of
// names takes while it is written. Measured.
constexpr int64_t kItemBytes = 96, kPackagedItemBytes = 64;

// DynamicVocabulary's, and what a checkpoint and the best weights have of it.
constexpr int64_t kVocabularyItemBytes = 16 + 3 * 12, kVocabularyRowBytes = 24;

// Floats of a token that a block's buffers have.
double KeptByBlock(const RetrieverShape& shape, const EncoderSlice& slice) {
  const double width = shape.width, own = width / slice.parts, hidden = 1.0 * shape.hidden / slice.parts;
  const double joined = slice.parts > 1 ? 2 * width : width;  // y and z with the gates
  return 4 * width + 4 * own + own + joined + 3 * hidden + own + joined + 4 +
         1.0 * shape.heads / slice.parts * shape.history_limit;
}

// Floats that one part keeps of the blocks between forward and backward.
double KeptByPart(const MemoryInput& input, const EncoderSlice& slice, double tokens) {
  const RetrieverShape& shape = input.placement.shape;
  const double width = shape.width, own = width / slice.parts, hidden = 1.0 * shape.hidden / slice.parts;
  const double block = KeptByBlock(shape, slice);
  const double backward = (slice.parts > 1 ? 4 : 3) * width + 5 * own + 3 * hidden + own;
  const int blocks = slice.blocks(shape);
  // Operands and result of a product in bfloat16, while it is made: half a float each.
  const double rounded = input.precision == TrainingPrecision::kBf16
                             ? (2 * width + 2 * std::max(4 * own, 2 * hidden + own)) / 2
                             : 0;
  const double forward = input.checkpoint_activations ? block + blocks * width : blocks * block;
  return tokens * (forward + backward + rounded + width);
}

// Floats of validation (retriever_validation.h): its users' states and best scores, the histories of some of
// them on their way, vectors and scores of some items.
double KeptByValidation(const MemoryInput& input, const EncoderSlice& slice) {
  if (input.options.held_out == 0) return 0;
  const RetrieverShape& shape = input.placement.shape;
  const ValidationSizes sizes;
  const double width = shape.width, threads = input.threads;
  const double all_users = static_cast<double>(std::max<int64_t>(input.index->examples(), 1));
  const double users = std::min<double>({static_cast<double>(sizes.users_of_block),
                                         static_cast<double>(input.options.validation_users), all_users});
  const double length = std::min<double>(shape.history_limit, input.index->events() / all_users);
  const double tokens = kLargerPart * threads * std::min<double>(sizes.users, users) * length;
  const double through = tokens * (KeptByBlock(shape, slice) + (slice.blocks(shape) + 4) * width);
  if (!slice.items) return through;
  const double items = std::min<double>(sizes.items, input.index->item_count());
  const double buckets = std::min<double>(shape.content_buckets, kBucketsOfItem * items);
  const double of_items = items * (2 * width + shape.content_width) + 3 * buckets * shape.content_width +
                          (input.placement.share_rows ? 3 * items * width : 0) + shape.content_buckets;
  return through + of_items + users * (width + kValidationUserFloats) +
         threads * sizes.users * (items + width);
}

std::string Mebibytes(int64_t bytes) {
  return absl::StrFormat("%.0f MiB", static_cast<double>(bytes) / (1 << 20));
}

int64_t BytesOfGroups(const MeshShape& mesh) {
  const int of_mesh = mesh.slices() > 1 ? (mesh.data > 1 ? 2 : 1) : 0;
  return kGroupBytes * ((mesh.ranks() > 1 ? 1 : 0) + of_mesh);
}

// The same job otherwise, in words and with what its hungriest rank would need; "" where it does not go, or
// needs no less than `now`.
std::string Otherwise(MemoryInput input, const std::string& words, const MeshShape& mesh, int64_t in_use,
                      int64_t now) {
  in_use += std::max<int64_t>(0, BytesOfGroups(mesh) - BytesOfGroups(input.placement.mesh));
  input.placement.mesh = mesh;
  if (!CheckDivides(input.placement.shape, mesh.tensor, mesh.pipeline).ok()) return "";
  input.parts = std::max(input.parts, mesh.data);
  int64_t most = 0;
  for (int slice = 0; slice < mesh.slices(); ++slice) most = std::max(most, NeedOf(input, slice).all());
  if (most + in_use >= now) return "";
  return absl::StrCat(words, " (about ", Mebibytes(most + in_use), ")");
}

// now: what is needed as it is.
std::string Remedies(const MemoryInput& input, int64_t in_use, int64_t now) {
  std::vector<std::string> ways;
  const MeshShape& mesh = input.placement.mesh;
  const auto add = [&](const MemoryInput& other, const std::string& words, const MeshShape& other_mesh) {
    if (std::string way = Otherwise(other, words, other_mesh, in_use, now); !way.empty()) ways.push_back(way);
  };
  if (mesh.pipeline == 1) {
    MeshShape more = mesh;
    more.tensor *= 2;
    add(input, absl::StrCat("--mesh tensor=", more.tensor), more);
  }
  if (mesh.tensor == 1 && input.accumulate == 1) {
    MeshShape more = mesh;
    more.pipeline *= 2;
    add(input, absl::StrCat("--mesh pipeline=", more.pipeline), more);
  }
  if (!input.placement.shard_optimizer) {
    MemoryInput sharded = input;
    sharded.placement.shard_optimizer = true;
    MeshShape more = mesh;
    more.data = std::max(2, mesh.data);
    add(sharded, absl::StrCat("--shard-optimizer over ", more.data, " data ranks"), more);
  }
  if (!input.checkpoint_activations) {
    MemoryInput recomputed = input;
    recomputed.checkpoint_activations = true;
    add(recomputed, "--checkpoint-activations", mesh);
  }
  if (mesh.pipeline == 1) {
    MemoryInput cut = input;
    cut.accumulate *= 4;
    add(cut, absl::StrCat("--accumulate ", cut.accumulate), mesh);
  }
  if (ways.empty()) return "a smaller --width or a larger limit is what is left";
  return absl::StrCat("what divides it: ", absl::StrJoin(ways, ", "));
}

}  // namespace

MemoryNeed NeedOf(const MemoryInput& input, int slice_number) {
  const PlacementInput& placement = input.placement;
  const RetrieverShape& shape = placement.shape;
  const MeshShape& mesh = placement.mesh;
  const EncoderSlice slice = mesh.SliceOf(shape, slice_number);
  const HeldNumbers held = HeldBySlice(placement, slice_number);
  const int own_parts = (input.parts + mesh.data - 1) / mesh.data;
  const bool one_sum = mesh.slices() > 1 ||
                       (input.threads == 1 &&
                        (placement.shard_optimizer || input.checkpoint_activations || input.accumulate > 1));
  const int sums = one_sum ? 1 : own_parts;
  MemoryNeed need;
  const int64_t working_copy = input.precision == TrainingPrecision::kBf16 ? held.encoder / 2 : 0;
  need.weights = held.encoder + held.tables + working_copy;
  need.moments = held.moments;
  need.gradients = held.encoder * sums;
  const int64_t master = need.weights - working_copy;
  if (input.options.held_out > 0) need.copies += master;
  if (input.checkpoints) need.copies += master + need.moments + need.copies;
  if (input.package && slice_number == 0) {
    const HeldNumbers whole = HeldBySlice({{}, shape, placement.id_rows, false, false}, 0);
    need.copies += whole.encoder + whole.tables;
  }
  const double tokens = kLargerPart * input.options.batch_tokens / input.parts;
  const double items = static_cast<double>(std::min<int64_t>(
      input.index->item_count(), input.options.negatives + 2 * static_cast<int64_t>(tokens) * own_parts));
  const double buckets = std::min<double>(shape.content_buckets, kBucketsOfItem * items);
  // Rows as they travel: gathered, packed, added up.
  const double rows = items * shape.width + buckets * shape.content_width;
  const int in_flight =
      mesh.pipeline > 1 ? static_cast<int>(PartsInFlight(slice_number, mesh.pipeline, own_parts)) : sums;
  // Windows are not cut.
  const double at_once = std::min(tokens, tokens / input.accumulate + shape.history_limit);
  const double passes =
      in_flight * KeptByPart(input, slice, at_once) +
      own_parts * (7.0 * at_once * shape.width + 128.0 * std::min<double>(items, input.options.negatives)) +
      items * ((4.0 + 2 * sums) * shape.width + shape.content_width) + buckets * shape.content_width +
      (mesh.data > 1 ? 3 * rows : 0) + shape.content_buckets + input.index->item_count() +
      KeptByValidation(input, slice);
  need.passes = static_cast<int64_t>(passes);
  for (int64_t* floats : {&need.weights, &need.gradients, &need.moments, &need.copies, &need.passes}) {
    *floats *= kFloatBytes;
  }
  if (input.vocabulary.Limits(input.index->item_count())) {
    need.weights +=
        kVocabularyItemBytes * input.index->item_count() + kVocabularyRowBytes * placement.id_rows;
  }
  need.examples =
      2 * kEventBytes * input.index->events() / mesh.data + kItemBytes * input.index->item_count();
  if (input.package && slice_number == 0) need.examples += kPackagedItemBytes * input.index->item_count();
  return need;
}

int64_t MemoryInUse() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t kib = 0;
    if (word == "VmData:" && status >> kib) return kib * 1024;
  }
  return 0;
}

absl::Status HoldToLimit(const MemoryInput& input, int rank, int64_t limit) {
  const int slice = input.placement.mesh.slice_of(rank);
  const int64_t in_use = MemoryInUse();
  const MemoryNeed need = NeedOf(input, slice);
  if (in_use + need.all() > limit) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "rank ", rank, " needs about ", Mebibytes(in_use + need.all()), " (weights ", Mebibytes(need.weights),
        ", gradients ", Mebibytes(need.gradients), ", optimizer ", Mebibytes(need.moments), ", copies ",
        Mebibytes(need.copies), ", passes ", Mebibytes(need.passes), ", examples ", Mebibytes(need.examples),
        ", the program ", Mebibytes(in_use), "), and --memory-limit allows ", Mebibytes(limit), "; ",
        Remedies(input, in_use, in_use + need.all())));
  }
  const rlimit data = {static_cast<rlim_t>(limit), static_cast<rlim_t>(limit)};
  if (setrlimit(RLIMIT_DATA, &data) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("--memory-limit: the system does not hold the process to ", Mebibytes(limit), ": ",
                     std::strerror(errno)));
  }
  return absl::OkStatus();
}

}  // namespace waymark
