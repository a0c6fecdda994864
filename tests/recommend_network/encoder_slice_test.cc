// Slices of an encoder beside the whole of it: what they hold, and that together they do the same.
#include <barrier>
#include <thread>

#include "recommend/network/encoder.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

RetrieverShape ShapeOfFour() {
  RetrieverShape shape;
  shape.width = 16;
  shape.heads = 4;
  shape.blocks = 3;
  shape.hidden = 24;
  shape.history_limit = 8;
  shape.time_buckets = 6;
  return shape;
}

void Fill(at::Tensor tensor, uint64_t seed) {
  const at::Tensor dense = tensor.contiguous();
  for (int64_t i = 0; i < dense.numel(); ++i) {
    dense.data_ptr<float>()[i] = static_cast<float>(RandomUnit(seed, i) - 0.5);
  }
  tensor.copy_(dense);
}

SequenceLayout TwoHistories() {
  SequenceLayout layout(6);
  layout.Add({0, 1000000, 9000000, 9000001, 20000000});
  layout.Add({5000000, 5000000, 7000000});
  return layout;
}

// Forward and backward of the whole, or of a part among others.
struct Pass {
  DenseWeights gradients;
  at::Tensor states, dtokens;

  Pass(const RetrieverShape& shape, const DenseWeights& weights, const EncoderOptions& options,
       double dropout)
      : gradients(shape, weights.slice) {
    const SequenceLayout layout = TwoHistories();
    const auto tokens = static_cast<int64_t>(layout.tokens());
    at::Tensor in = at::empty({tokens, shape.width}, at::kFloat), pull = at::empty_like(in);
    Fill(in, 3);
    Fill(pull, 4);
    const Encoder encoder(shape, &weights, options);
    EncoderWorkspace workspace;
    encoder.Forward(layout, in, {dropout, 77}, &workspace, &states);
    encoder.Backward(layout, pull, {dropout, 77}, &workspace, &gradients, &dtokens);
  }
};

// Adds up over threads, each of them a part.
class ThreadPeers : public EncoderPeers {
 public:
  ThreadPeers(int part, std::vector<at::Tensor>* given, std::barrier<>* barrier)
      : part_(part), given_(given), barrier_(barrier) {}
  void Sum(const at::Tensor& tensor) override {
    (*given_)[part_] = tensor.clone();
    barrier_->arrive_and_wait();
    at::Tensor sum = (*given_)[0].clone();
    for (size_t p = 1; p < given_->size(); ++p) sum.add_((*given_)[p]);
    barrier_->arrive_and_wait();
    tensor.copy_(sum);
    ++sums;
  }
  int sums = 0;

 private:
  int part_;
  std::vector<at::Tensor>* given_;
  std::barrier<>* barrier_;
};

double Apart(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

DenseWeights* SliceOfWhole(const DenseWeights& whole, DenseWeights* slice) {
  for (size_t t = 0; t < slice->tensors.size(); ++t) {
    slice->tensors[t].copy_(OwnOf(slice->places[t], whole.tensors[slice->places[t].number]));
  }
  return slice;
}

TEST_CASE("Slices begin with the numbers of the whole, and each number of it lies in one of them") {
  const RetrieverShape shape = ShapeOfFour();
  DenseWeights whole(shape);
  InitializeDense(&whole, 5);
  const auto check = [&](const std::vector<EncoderSlice>& slices) {
    DenseWeights joined(shape);
    int64_t numbers = 0;
    for (const EncoderSlice& slice : slices) {
      DenseWeights own(shape, slice);
      InitializeDense(&own, 5);
      for (size_t t = 0; t < own.tensors.size(); ++t) {
        const PlacedTensor& place = own.places[t];
        CHECK(own.names[t].name == whole.names[place.number].name);
        PutInto(place, own.tensors[t], &joined.tensors[place.number]);
        if (!place.copied || slice.part == 0) numbers += own.tensors[t].numel();
      }
    }
    CHECK(at::equal(joined.flat, whole.flat));
    int64_t all = 0;
    for (const NamedShape& name : whole.names) all += name.elements();
    CHECK(numbers == all);
  };
  EncoderSlice a, b;
  a.parts = b.parts = 2;
  b.part = 1;
  check({a, b});
  check({StageSlice(shape, 0, 2), StageSlice(shape, 1, 2)});
  check({StageSlice(shape, 0, 3), StageSlice(shape, 1, 3), StageSlice(shape, 2, 3)});
}

TEST_CASE(
    "Parts of blocks have together the states and gradients of the whole, with two sums a block each way") {
  const RetrieverShape shape = ShapeOfFour();
  DenseWeights whole(shape);
  for (size_t t = 0; t < whole.tensors.size(); ++t) Fill(whole.tensors[t], 100 + t);
  for (const int parts : {2, 4}) {
    for (const bool recompute : {false, true}) {
      const Pass expected(shape, whole, {}, 0.3);
      std::barrier<> barrier(parts);
      std::vector<at::Tensor> given(parts);
      std::vector<std::thread> threads;
      std::vector<std::unique_ptr<Pass>> passes(parts);
      std::vector<int> sums(parts);
      for (int part = 0; part < parts; ++part) {
        threads.emplace_back([&, part] {
          at::NoGradGuard no_grad;
          EncoderSlice slice;
          slice.part = part;
          slice.parts = parts;
          DenseWeights own(shape, slice);
          SliceOfWhole(whole, &own);
          ThreadPeers peers(part, &given, &barrier);
          passes[part] = std::make_unique<Pass>(shape, own, EncoderOptions{&peers, recompute}, 0.3);
          sums[part] = peers.sums;
        });
      }
      for (std::thread& thread : threads) thread.join();
      INFO(parts << " parts, recompute " << recompute);
      for (int part = 0; part < parts; ++part) {
        CHECK(sums[part] == (recompute ? 6 : 4) * shape.blocks);
        CHECK(Apart(passes[part]->states, expected.states) < 2e-5);
        CHECK(Apart(passes[part]->dtokens, expected.dtokens) < 2e-5);
        for (size_t t = 2; t < whole.tensors.size(); ++t) {
          INFO(whole.names[t].name << " of part " << part);
          const DenseWeights& own = passes[part]->gradients;
          CHECK(Apart(own.tensors[t], OwnOf(own.places[t], expected.gradients.tensors[t])) < 5e-5);
        }
      }
    }
  }
}

TEST_CASE("Stages one after the other have the bits of the whole") {
  const RetrieverShape shape = ShapeOfFour();
  DenseWeights whole(shape);
  for (size_t t = 0; t < whole.tensors.size(); ++t) Fill(whole.tensors[t], 100 + t);
  const Pass expected(shape, whole, {}, 0.3);
  const SequenceLayout layout = TwoHistories();
  at::Tensor x = at::empty({static_cast<int64_t>(layout.tokens()), shape.width}, at::kFloat),
             pull = at::empty_like(x);
  Fill(x, 3);
  Fill(pull, 4);
  std::vector<std::unique_ptr<DenseWeights>> own, gradients;
  std::vector<std::unique_ptr<Encoder>> stages;
  std::vector<EncoderWorkspace> workspaces(2);
  for (int stage = 0; stage < 2; ++stage) {
    own.push_back(std::make_unique<DenseWeights>(shape, StageSlice(shape, stage, 2)));
    SliceOfWhole(whole, own.back().get());
    gradients.push_back(std::make_unique<DenseWeights>(shape, StageSlice(shape, stage, 2)));
    stages.push_back(std::make_unique<Encoder>(shape, own.back().get(), EncoderOptions{nullptr, stage == 1}));
    at::Tensor states;
    stages[stage]->Forward(layout, x, {0.3, 77}, &workspaces[stage], &states);
    x = states;
  }
  CHECK(at::equal(x, expected.states));
  for (int stage = 1; stage >= 0; --stage) {
    at::Tensor back;
    stages[stage]->Backward(layout, pull, {0.3, 77}, &workspaces[stage], gradients[stage].get(), &back);
    pull = back;
    for (size_t t = 0; t < gradients[stage]->tensors.size(); ++t) {
      const PlacedTensor& place = gradients[stage]->places[t];
      INFO(place.whole.name);
      CHECK(at::equal(gradients[stage]->tensors[t], expected.gradients.tensors[place.number]));
    }
  }
  CHECK(at::equal(pull, expected.dtokens));
}

TEST_CASE("What does not divide is refused by name") {
  const RetrieverShape shape = ShapeOfFour();
  CHECK(CheckDivides(shape, 4, 3).ok());
  CHECK(CheckDivides(shape, 3, 1).message() ==
        "a block cannot be spread over 3 ranks: network.heads is 4, no multiple of it");
  CHECK(CheckDivides(shape, 1, 4).message() ==
        "a pipeline of 4 stages wants as many blocks: network.blocks is 3");
}

}  // namespace
}  // namespace waymark
