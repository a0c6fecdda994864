// The written-out forward and backward passes beside LibTorch's automatic differentiation of the formulas in
// recommend/network/encoder.h.
#include "recommend/network/encoder.h"

#include "recommend/network/counter_random.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

constexpr int64_t kSecond = 1000000;

RetrieverShape SmallShape() {
  RetrieverShape shape;
  shape.width = 16;
  shape.hidden = 24;
  shape.history_limit = 8;
  shape.time_buckets = 6;
  return shape;
}

at::Tensor Noise(at::IntArrayRef sizes, uint64_t seed, double scale) {
  at::Tensor tensor = at::empty(sizes, at::kFloat);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    tensor.data_ptr<float>()[i] = static_cast<float>(scale * (2 * RandomUnit(seed, i) - 1));
  }
  return tensor;
}

// Weights large enough that every part of the network matters.
void Scramble(DenseWeights* weights, uint64_t seed) {
  for (size_t t = 0; t < weights->tensors.size(); ++t) {
    weights->tensors[t].copy_(Noise(weights->tensors[t].sizes(), seed + t, 0.5));
  }
}

SequenceLayout ThreeHistories() {
  SequenceLayout layout(6);
  layout.Add({0, kSecond, 9 * kSecond});
  layout.Add({5 * kSecond});
  layout.Add({0, 0, kSecond, 2 * kSecond, 3 * kSecond, 30 * kSecond, 31 * kSecond, 99 * kSecond});
  return layout;
}

at::Tensor Reference(const RetrieverShape& shape, const SequenceLayout& layout,
                     const std::vector<at::Tensor>& w, at::Tensor x) {
  const int64_t width = shape.width, d = width / shape.heads;
  size_t next = 2;
  for (int b = 0; b < shape.blocks; ++b, next += 14) {
    const at::Tensor n1 = at::layer_norm(x, {width}, w[next], w[next + 1]);
    const at::Tensor qkvg = at::linear(n1, w[next + 2], w[next + 3]);
    std::vector<at::Tensor> rows;
    for (size_t s = 0; s < layout.sequences(); ++s) {
      const int64_t length = layout.length(s);
      const at::Tensor own = qkvg.narrow(0, layout.start(s), length);
      std::vector<at::Tensor> heads;
      for (int h = 0; h < shape.heads; ++h) {
        const at::Tensor q = own.narrow(1, h * d, d), k = own.narrow(1, width + h * d, d);
        const at::Tensor v = own.narrow(1, 2 * width + h * d, d);
        at::Tensor distance = at::zeros({length, length}, at::kLong), bucket = at::zeros_like(distance);
        at::Tensor future = at::zeros({length, length}, at::kBool);
        for (int64_t i = 0; i < length; ++i) {
          for (int64_t j = 0; j < length; ++j) {
            if (j > i) {
              future[i][j] = true;
            } else {
              distance[i][j] = shape.history_limit - 1 - (i - j);
              bucket[i][j] = static_cast<int64_t>(layout.buckets(s)[i * length + j]);
            }
          }
        }
        const at::Tensor scores = at::mm(q, k.t()) / std::sqrt(static_cast<double>(d)) +
                                  w[next + 4][h].index_select(0, distance.flatten()).view({length, length}) +
                                  w[next + 5][h].index_select(0, bucket.flatten()).view({length, length});
        heads.push_back(at::mm(at::softmax(scores.masked_fill(future, -INFINITY), 1), v));
      }
      rows.push_back(at::cat(heads, 1));
    }
    x = x + at::sigmoid(qkvg.narrow(1, 3 * width, width)) *
                at::linear(at::cat(rows, 0), w[next + 6], w[next + 7]);
    const at::Tensor n2 = at::layer_norm(x, {width}, w[next + 8], w[next + 9]);
    const at::Tensor up = at::linear(n2, w[next + 10], w[next + 11]);
    const at::Tensor hidden =
        at::silu(up.narrow(1, 0, shape.hidden)) * up.narrow(1, shape.hidden, shape.hidden);
    x = x +
        at::sigmoid(up.narrow(1, 2 * shape.hidden, width)) * at::linear(hidden, w[next + 12], w[next + 13]);
  }
  return at::layer_norm(x, {width}, w[next], w[next + 1]);
}

double LargestDifference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

TEST_CASE("States and all gradients equal those of automatic differentiation") {
  const RetrieverShape shape = SmallShape();
  DenseWeights weights(shape), gradients(shape);
  Scramble(&weights, 7);
  const SequenceLayout layout = ThreeHistories();
  const at::Tensor tokens = Noise({static_cast<int64_t>(layout.tokens()), shape.width}, 3, 1);
  const at::Tensor pull = Noise(tokens.sizes(), 4, 1);

  std::vector<at::Tensor> leaves;
  for (const at::Tensor& t : weights.tensors) leaves.push_back(t.clone().requires_grad_());
  const at::Tensor input = tokens.clone().requires_grad_();
  const at::Tensor expected = Reference(shape, layout, leaves, input);
  (expected * pull).sum().backward();

  const Encoder encoder(shape, &weights);
  EncoderWorkspace workspace;
  at::Tensor states, dtokens;
  encoder.Forward(layout, tokens, {}, &workspace, &states);
  encoder.Backward(layout, pull, {}, &workspace, &gradients, &dtokens);
  CHECK(LargestDifference(states, expected.detach()) < 1e-5);
  CHECK(LargestDifference(dtokens, input.grad()) < 1e-5);
  for (size_t t = 2; t < leaves.size(); ++t) {  // the first two belong to items
    INFO(weights.names[t].name);
    REQUIRE(leaves[t].grad().defined());
    CHECK(leaves[t].grad().abs().max().item<double>() > 1e-4);
    CHECK(LargestDifference(gradients.tensors[t], leaves[t].grad()) < 3e-5);
  }
}

TEST_CASE("In bfloat16 the passes are those of fp32 but for its rounding, and gradients stay fp32") {
  const RetrieverShape shape = SmallShape();
  DenseWeights weights(shape), gradients(shape), rounded_gradients(shape);
  Scramble(&weights, 7);
  const Bf16Matrices matrices(weights);
  const SequenceLayout layout = ThreeHistories();
  const at::Tensor tokens = Noise({static_cast<int64_t>(layout.tokens()), shape.width}, 3, 1);
  const at::Tensor pull = Noise(tokens.sizes(), 4, 1);
  EncoderWorkspace workspace;
  at::Tensor states, rounded, dtokens, rounded_dtokens;
  const Encoder plain(shape, &weights), mixed(shape, &weights, {.matrices = &matrices});
  plain.Forward(layout, tokens, {}, &workspace, &states);
  plain.Backward(layout, pull, {}, &workspace, &gradients, &dtokens);
  mixed.Forward(layout, tokens, {}, &workspace, &rounded);
  mixed.Backward(layout, pull, {}, &workspace, &rounded_gradients, &rounded_dtokens);
  const auto apart = [](const at::Tensor& a, const at::Tensor& b) {
    return ((a - b).norm() / b.norm()).item<double>();
  };
  // Rounding is 2^-9 at most; two blocks of four products each, forward and backward.
  CHECK(apart(rounded, states) < 16 / 512.0);
  CHECK(apart(rounded, states) > 1e-5);
  CHECK(apart(rounded_dtokens, dtokens) < 16 / 512.0);
  CHECK(apart(rounded_gradients.flat, gradients.flat) < 16 / 512.0);
  CHECK(rounded_gradients.flat.scalar_type() == at::kFloat);
}

TEST_CASE("Master weights keep updates that are too small for bfloat16") {
  DenseWeights weights(SmallShape());
  weights.flat.fill_(1);
  Bf16Matrices matrices(weights);
  at::Tensor pure = at::ones({1}, at::kBFloat16);
  // Below 1 numbers of bfloat16 are 2^-8 apart: 1 - 2^-9 = .998046875 lies between 1 and .99609375.
  for (int step = 1; step <= 20; ++step) {
    weights.flat.sub_(1e-4);
    pure.sub_(1e-4);
    matrices.Round(weights);
    const float working = matrices.block(1).feed_output.to(at::kFloat)[0][0].item<float>();
    CHECK(working == (step < 20 ? 1.0f : 0.99609375f));
  }
  CHECK(weights.flat[0].item<float>() == Approx(0.998).epsilon(1e-6));
  CHECK(pure.to(at::kFloat).item<float>() == 1.0f);
}

TEST_CASE("With dropout the gradient is that of the function with the same mask") {
  const RetrieverShape shape = SmallShape();
  DenseWeights weights(shape), gradients(shape);
  Scramble(&weights, 11);
  const SequenceLayout layout = ThreeHistories();
  at::Tensor tokens = Noise({static_cast<int64_t>(layout.tokens()), shape.width}, 3, 1);
  const at::Tensor pull = Noise(tokens.sizes(), 4, 1), direction = Noise(tokens.sizes(), 5, 1);
  const Encoder encoder(shape, &weights);
  EncoderWorkspace workspace;
  at::Tensor states, dtokens;
  const EncoderDropout dropout{0.4, 99};
  const auto value = [&](double step) {
    encoder.Forward(layout, tokens + direction * step, dropout, &workspace, &states);
    return (states.to(at::kDouble) * pull).sum().item<double>();
  };
  const double slope = (value(1e-3) - value(-1e-3)) / 2e-3;
  value(0);
  encoder.Backward(layout, pull, dropout, &workspace, &gradients, &dtokens);
  CHECK((dtokens * direction).sum().item<double>() == Approx(slope).epsilon(0.01).margin(0.02));
}

TEST_CASE("A later event changes no earlier state") {
  const RetrieverShape shape = SmallShape();
  DenseWeights weights(shape);
  Scramble(&weights, 7);
  const Encoder encoder(shape, &weights);
  EncoderWorkspace workspace;
  const SequenceLayout layout = ThreeHistories();
  at::Tensor tokens = Noise({12, shape.width}, 3, 1), before, after;
  encoder.Forward(layout, tokens, {}, &workspace, &before);
  tokens[9].add_(1.0);  // the sixth of eight events of the last history
  encoder.Forward(layout, tokens, {}, &workspace, &after);
  for (int64_t t = 0; t < 12; ++t) {
    const bool same = at::equal(before[t], after[t]);
    CHECK(same == (t < 9));
  }
}

TEST_CASE("A history's state does not depend on what else is in the batch") {
  const RetrieverShape shape = SmallShape();
  DenseWeights weights(shape);
  Scramble(&weights, 7);
  const Encoder encoder(shape, &weights);
  EncoderWorkspace workspace;
  const SequenceLayout layout = ThreeHistories();
  const at::Tensor tokens = Noise({12, shape.width}, 3, 1);
  const at::Tensor together = encoder.EncodeNewest(layout, tokens.clone(), &workspace);
  SequenceLayout alone(6);
  alone.Add({0, kSecond, 9 * kSecond});
  const at::Tensor single = encoder.EncodeNewest(alone, tokens.narrow(0, 0, 3).clone(), &workspace);
  CHECK(LargestDifference(together[0], single[0]) < 1e-5);
}

TEST_CASE("The newest states alone equal the last of all states") {
  const RetrieverShape shape = SmallShape();
  DenseWeights weights(shape);
  Scramble(&weights, 7);
  const Encoder encoder(shape, &weights);
  EncoderWorkspace workspace, other;
  const SequenceLayout layout = ThreeHistories();
  const at::Tensor tokens = Noise({12, shape.width}, 3, 1);
  at::Tensor all;
  encoder.Forward(layout, tokens, {}, &workspace, &all);
  const at::Tensor newest = encoder.EncodeNewest(layout, tokens.clone(), &other);
  CHECK(LargestDifference(newest[0], all[2]) < 1e-5);
  CHECK(LargestDifference(newest[1], all[3]) < 1e-5);
  CHECK(LargestDifference(newest[2], all[11]) < 1e-5);
}

}  // namespace
}  // namespace waymark
