#include "training/distributed/mesh/mesh_shape.h"

#include "tests/support/catch.h"
#include "training/distributed/mesh/flat_runs.h"
#include "training/distributed/mesh/memory_need.h"
#include "training/retriever/pipeline_schedule.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("A mesh lays copies on neighbouring ranks, and takes data from the ranks that are left") {
  const auto mesh = MeshOf("tensor=2", 6);
  REQUIRE(mesh.ok());
  CHECK(mesh->Text() == "data=3,tensor=2");
  CHECK(mesh->OfCopy(1) == std::vector<int>{2, 3});
  CHECK(mesh->SameSlice(1) == std::vector<int>{1, 3, 5});
  CHECK(MeshOf("", 4)->Text() == "data=4");
  CHECK(MeshOf("data=2,pipeline=3", 6)->Text() == "data=2,pipeline=3");
  CHECK(MeshOf("tensor=1,pipeline=2", 2)->Text() == "data=1,pipeline=2");
}

TEST_CASE("What is no mesh, and ranks that it does not divide, are refused by name") {
  const auto message = [](const std::string& text, int ranks) {
    return std::string(MeshOf(text, ranks).status().message());
  };
  CHECK_THAT(message("tensor=2,pipeline=2", 4), Contains("none of tensor and pipeline"));
  CHECK_THAT(message("expert=2", 4), Contains("no axis 'expert'"));
  CHECK_THAT(message("tensor=0", 4), Contains("'tensor=0' is no tensor=NUMBER"));
  CHECK_THAT(message("tensor=two", 4), Contains("'tensor=two'"));
  CHECK_THAT(message("tensor=2,tensor=2", 4), Contains("names tensor twice"));
  CHECK_THAT(message("pipeline=2", 5), Contains("wants a multiple of 2 ranks, and there are 5 ranks"));
  CHECK_THAT(message("data=3", 4), Contains("--mesh data=3 wants 3 ranks, and there are 4 ranks"));
}

TEST_CASE("What does not go with a mesh is refused by name") {
  const auto message = [](const std::string& text, int ranks, const JobOptions& job) {
    return std::string(CheckMesh(*MeshOf(text, ranks), RetrieverShape(), job).message());
  };
  JobOptions job;
  CHECK(message("tensor=2", 4, job).empty());
  CHECK_THAT(message("tensor=4", 4, job), Contains("network.heads is 2, no multiple of it"));
  CHECK_THAT(message("pipeline=3", 3, job), Contains("network.blocks is 2"));
  job.backend = "nccl";
  CHECK_THAT(message("pipeline=2", 2, job), Contains("--backend nccl does not do here"));
  CHECK(message("tensor=2", 2, job).empty());
  job = {};
  job.threads = 2;
  CHECK_THAT(message("tensor=2", 2, job), Contains("leave out --threads"));
  CHECK(message("", 2, job).empty());
  job = {};
  job.shard_optimizer = true;
  CHECK_THAT(message("tensor=2", 2, job), Contains("--shard-optimizer divides among"));
  CHECK_THAT(message("", 1, job), Contains("--shard-optimizer divides among"));
  CHECK(message("tensor=2", 4, job).empty());
}

TEST_CASE("A stage passes one forward and one backward in turn, and holds no more parts than stages follow") {
  using Order = std::vector<std::pair<size_t, bool>>;
  const auto order = [](int stage, int stages, size_t parts) {
    Order passes;
    for (const PartPass& pass : OneForwardOneBackward(stage, stages, parts)) {
      passes.push_back({pass.part, pass.backward});
    }
    return passes;
  };
  // PipeDream-Flush with two stages and three parts, by hand.
  CHECK(order(0, 2, 3) == Order{{0, false}, {1, false}, {0, true}, {2, false}, {1, true}, {2, true}});
  CHECK(order(1, 2, 3) == Order{{0, false}, {0, true}, {1, false}, {1, true}, {2, false}, {2, true}});
  for (const auto& [stages, parts] : {std::pair{4, 8}, {4, 2}, {3, 3}, {2, 1}}) {
    for (int stage = 0; stage < stages; ++stage) {
      std::vector<int> state(parts, 0);
      size_t held = 0, most = 0;
      for (const auto& [part, backward] : order(stage, stages, parts)) {
        CHECK(state[part] == (backward ? 1 : 0));
        ++state[part];
        held += backward ? -1 : 1;
        most = std::max(most, held);
      }
      CHECK(std::count(state.begin(), state.end(), 2) == parts);
      CHECK(most == PartsInFlight(stage, stages, parts));
    }
  }
}

TEST_CASE("Runs of slices, and of shares of their moments, name each number of the whole once") {
  RetrieverShape shape;
  shape.heads = 4;
  shape.blocks = 3;
  for (const auto& [text, ranks] : {std::pair{"tensor=2", 4}, {"pipeline=3", 6}, {"", 3}}) {
    const MeshShape mesh = *MeshOf(text, ranks);
    std::vector<int> named(WholeFloats(shape), 0);
    for (int rank = 0; rank < ranks; ++rank) {
      ModelShare share;
      share.encoder = mesh.SliceOf(shape, mesh.slice_of(rank));
      share.moments = {mesh.copy_of(rank), mesh.data};
      const DenseWeights own(shape, share.encoder);
      const FlatSlice moments = share.MomentsOf(own.flat.numel());
      const auto runs = ClipRuns(RunsOfSlice(shape, share.encoder, share.encoder.part == 0), moments);
      for (const RunMatrix& matrix : JoinRuns(runs)) {
        for (int64_t row = 0; row < matrix.rows; ++row) {
          for (int64_t c = 0; c < matrix.first.count; ++c) {
            ++named[matrix.first.whole + row * matrix.stride + c];
          }
        }
      }
    }
    // What lies between tensors as padding nobody names.
    int64_t numbers = 0;
    for (const NamedShape& tensor : shape.DenseTensors()) numbers += tensor.elements();
    CHECK(std::count(named.begin(), named.end(), 1) == numbers);
    CHECK(std::count(named.begin(), named.end(), 0) == WholeFloats(shape) - numbers);
  }
}

TEST_CASE("What a rank holds is what is worked out by hand") {
  PlacementInput input;
  input.shape.width = 64;
  input.shape.hidden = 128;
  input.shape.heads = 2;
  input.shape.blocks = 2;
  input.id_rows = 1000;
  // items.unknown, content.projection; a block; final.norm. Position and time are 2 x 50 and 2 x 32, the
  // first padded to 112.
  const int64_t items = 64 + 32 * 64, norms = 4 * 64, block_in = 4 * 64 * 64 + 4 * 64 + (256 + 64) * 64 + 320,
                biases = 112 + 64, out = 64 * 64 + 64 + 64 * 128 + 64;
  const int64_t block = norms + block_in + biases + out, end = 128;
  const int64_t tables = 1000 * 64 + 8192 * 32;
  HeldNumbers held = HeldBySlice(input, 0);
  CHECK(held.encoder == items + 2 * block + end);
  CHECK(held.tables == tables);
  CHECK(held.moments == 2 * (held.encoder + tables));
  input.mesh = *MeshOf("pipeline=2", 2);
  CHECK(HeldBySlice(input, 0).encoder == items + block);
  CHECK(HeldBySlice(input, 1).encoder == block + end);
  CHECK(HeldBySlice(input, 1).tables == 0);
  input.mesh = *MeshOf("tensor=2", 2);
  // Half of what leads in and out, norms and the biases of what leads out whole; 50 numbers padded to 64.
  const int64_t half = norms + block_in / 2 + 64 + 32 + (64 * 64 + 64 * 128) / 2 + 128;
  CHECK(HeldBySlice(input, 1).encoder == items + 2 * half + end);
  input.mesh = *MeshOf("", 2);
  input.shard_optimizer = true;
  CHECK(HeldBySlice(input, 0).moments == held.encoder + tables);
  CHECK_THAT(PlacementTable(input), Contains("items.id") && Contains("1000x64") && Contains("64,000") &&
                                        Contains("blocks.0-1.attention.input.weight") && Contains("32,768"));
}

TEST_CASE("With shared rows what a rank holds and needs shrinks as ranks grow") {
  storage::ExamplesIndex index;
  index.set_item_count(10'000'000);
  index.set_examples(1'000'000);
  index.set_events(20'000'000);
  MemoryInput input;
  input.index = &index;
  input.placement.id_rows = index.item_count();
  input.placement.shape.content_buckets = input.options.shape.content_buckets = 1'000'000;
  input.parts = 8;
  input.package = false;
  const HeldNumbers whole = HeldBySlice(input.placement, 0);
  // 10,000,000 rows of 64 and 1,000,000 of 32.
  CHECK(whole.tables == 672'000'000);
  const MemoryNeed of_one = NeedOf(input, 0);
  input.placement.share_rows = true;
  for (const int ranks : {2, 4, 8}) {
    input.placement.mesh = *MeshOf("", ranks);
    const HeldNumbers held = HeldBySlice(input.placement, 0);
    INFO(ranks << " ranks");
    CHECK(held.tables == whole.tables / ranks);
    CHECK(held.moments == whole.moments - 2 * (whole.tables - held.tables));
    const MemoryNeed need = NeedOf(input, 0);
    const auto of_tables = [](const MemoryNeed& n) { return n.weights + n.moments + n.copies; };
    CHECK(static_cast<double>(of_tables(need)) < static_cast<double>(of_tables(of_one)) / ranks * 1.01);
    CHECK(need.all() < of_one.all());
    // Validation puts no table together: 10,000,000 vectors of 64 would be 2.56 GB.
    CHECK(need.passes < 500'000'000);
    const std::string table = PlacementTable(input.placement);
    CHECK_THAT(table, Contains("content.buckets") && Contains("1000000x32") &&
                          Contains("rows, over the " + std::to_string(ranks) + " ranks of data"));
  }
}

TEST_CASE("What is needed shrinks by what divides it, and the message names the ways") {
  storage::ExamplesIndex index;
  MemoryInput input;
  input.index = &index;
  input.placement.shape.width = 512;
  input.placement.shape.hidden = 1024;
  input.placement.shape.heads = 8;
  input.placement.shape.blocks = 4;
  input.placement.id_rows = 100;
  input.options.shape = input.placement.shape;
  input.parts = 2;
  const MemoryNeed whole = NeedOf(input, 0);
  // 12 width^2 weights a block, and little beside.
  const int64_t encoder = int64_t{4} * 4 * 12 * 512 * 512;
  CHECK(whole.weights > encoder);
  CHECK(whole.weights < encoder + (3 << 20));
  CHECK(whole.gradients > 2 * encoder);  // one a part
  CHECK(whole.moments == 2 * whole.weights);
  MemoryInput spread = input;
  spread.placement.mesh = *MeshOf("tensor=2", 2);
  CHECK(NeedOf(spread, 1).moments < 0.55 * whole.moments);
  CHECK(NeedOf(spread, 1).gradients < 0.3 * whole.gradients);
  spread.placement.mesh = *MeshOf("pipeline=2", 2);
  CHECK(NeedOf(spread, 1).moments < 0.55 * whole.moments);
  // One gradient for both parts, and activations of an eighth and a window.
  MemoryInput cut = input;
  cut.accumulate = 8;
  CHECK(NeedOf(cut, 0).gradients < 0.55 * whole.gradients);
  CHECK(NeedOf(cut, 0).passes < 0.25 * whole.passes);
  CHECK(NeedOf(cut, 0).weights == whole.weights);
  const absl::Status refused = HoldToLimit(input, 0, 100 << 20);
  CHECK(refused.code() == absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(refused.message()),
             Contains("rank 0 needs about") && Contains("--memory-limit allows 100 MiB") &&
                 Contains("--mesh tensor=2 (about") && Contains("--accumulate 4 (about") &&
                 Contains("--shard-optimizer over 2 data ranks (about"));
  // Of a small model the groups of a mesh take more than it divides: that is no way.
  input.placement.shape.width = input.options.shape.width = 16;
  input.placement.shape.hidden = input.options.shape.hidden = 32;
  const absl::Status small = HoldToLimit(input, 0, 1 << 20);
  CHECK(small.code() == absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(small.message()), !Contains("--mesh"));
}

}  // namespace
}  // namespace waymark
