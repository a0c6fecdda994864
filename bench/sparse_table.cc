// A step on a large table of embeddings: lookup of a batch's ids, the gradient of its rows, the update. Ours
// (training/retriever/: distinct rows, their gradients added up, Adam on those rows in one pass) beside
// LibTorch's: dense gradients with torch::optim::Adam and with its fused Adam, and sparse gradients with the
// update of PyTorch's SparseAdam, which the C++ library lacks.
//
//   sparse_table [--rows 1000000] [--width 64] [--examples 512] [--ids 50] [--rounds 7] [--steps 3]
//
// One thread, by the processor's clock, in turn in one run; medians of rounds. First that all of them make
// the same first step from the same weights.
#include <torch/torch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recommend/network/counter_random.h"
#include "training/retriever/distinct_rows.h"
#include "training/retriever/step_table.h"

namespace waymark {
namespace {

struct Setting {
  int64_t rows = 1000000, width = 64, examples = 512, ids = 50;
  int rounds = 7, steps = 3;
  int64_t uses() const { return examples * ids; }
};
constexpr double kRate = 1e-3, kBeta1 = 0.9, kBeta2 = 0.98, kEpsilon = 1e-8;

double CpuSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Batch {
  at::Tensor ids;       // [uses]
  at::Tensor gradient;  // [uses, width]: what the layers above would give
};

// skewed: the logarithm of the id is uniform, as popularity by rank is (Zipf's law with exponent 1).
Batch MakeBatch(const Setting& s, uint64_t number, bool skewed) {
  Batch batch = {at::empty({s.uses()}, at::kLong), at::empty({s.uses(), s.width}, at::kFloat)};
  const uint64_t key = RandomKey(7, {number, skewed});
  for (int64_t i = 0; i < s.uses(); ++i) {
    const double place = skewed ? std::pow(static_cast<double>(s.rows), RandomUnit(key, i)) - 1
                                : RandomUnit(key, i) * static_cast<double>(s.rows);
    batch.ids.data_ptr<int64_t>()[i] = std::min(s.rows - 1, static_cast<int64_t>(place));
  }
  for (int64_t i = 0; i < batch.gradient.numel(); ++i) {
    batch.gradient.data_ptr<float>()[i] = static_cast<float>(RandomUnit(key, s.uses() + i) - 0.5);
  }
  return batch;
}

// A table of embeddings in training.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual const char* name() const = 0;
  virtual void Step(const Batch& batch, int64_t number) = 0;
};

class OwnTable : public Contender {
 public:
  explicit OwnTable(const at::Tensor& weights)
      : table_(weights, at::zeros_like(weights), at::zeros_like(weights)), distinct_(weights.size(0)) {}
  const char* name() const override { return "Waymark"; }
  void Step(const Batch& batch, int64_t number) override {
    const int64_t uses = batch.ids.size(0), width = batch.gradient.size(1);
    distinct_.Clear();
    places_.clear();
    for (int64_t i = 0; i < uses; ++i) places_.push_back(distinct_.Place(batch.ids.data_ptr<int64_t>()[i]));
    const auto rows = static_cast<int64_t>(distinct_.size());
    const at::Tensor weights = table_.Rows(distinct_.rows(), &row_places_);
    vectors_.resize_({rows, width});
    tokens_.resize_({uses, width});
    gradient_.resize_({rows, width}).zero_();
    for (int64_t r = 0; r < rows; ++r) {
      std::copy_n(weights.data_ptr<float>() + row_places_[r] * width, width,
                  vectors_.data_ptr<float>() + r * width);
    }
    CopyRows(vectors_.data_ptr<float>(), places_, width, tokens_.data_ptr<float>());
    AddRows(batch.gradient.data_ptr<float>(), places_, width, gradient_.data_ptr<float>());
    norm2 += table_.Collect(distinct_.rows(), 0, gradient_.data_ptr<float>());
    AdamStep step;
    step.learning_rate = kRate;
    step.step = number;
    table_.Update(step);
  }

  double norm2 = 0;  // of the gradient, which clipping asks for

 private:
  WholeTable table_;
  DistinctRows distinct_;
  std::vector<int32_t> places_;
  std::vector<int64_t> row_places_;
  at::Tensor vectors_ = at::empty({0}), tokens_ = at::empty({0}), gradient_ = at::empty({0});
};

// What LibTorch's tables have in common: autograd's lookup and its gradient.
class TorchTable : public Contender {
 public:
  TorchTable(const at::Tensor& weights, bool sparse)
      : weights_(weights.detach().requires_grad_()), sparse_(sparse) {}
  void Step(const Batch& batch, int64_t number) override {
    weights_.mutable_grad().reset();
    torch::embedding(weights_, batch.ids, -1, false, sparse_).backward(batch.gradient);
    at::NoGradGuard no_gradient;
    Update(number);
  }

 protected:
  virtual void Update(int64_t number) = 0;
  at::Tensor weights_;

 private:
  bool sparse_;
};

class DenseAdam : public TorchTable {
 public:
  explicit DenseAdam(const at::Tensor& weights)
      : TorchTable(weights, false),
        adam_({weights_}, torch::optim::AdamOptions(kRate).betas({kBeta1, kBeta2}).eps(kEpsilon)) {}
  const char* name() const override { return "dense gradient, Adam"; }
  void Update(int64_t /*number*/) override { adam_.step(); }

 private:
  torch::optim::Adam adam_;
};

class FusedAdam : public TorchTable {
 public:
  explicit FusedAdam(const at::Tensor& weights)
      : TorchTable(weights, false), first_(at::zeros_like(weights)), second_(at::zeros_like(weights)) {}
  const char* name() const override { return "dense gradient, fused Adam"; }
  void Update(int64_t number) override {
    const at::Tensor step = at::scalar_tensor(static_cast<double>(number), at::kFloat);
    at::Tensor weights = weights_.detach();
    at::_fused_adam_({weights}, {weights_.grad()}, {first_}, {second_}, {}, {step}, kRate, kBeta1, kBeta2, 0,
                     kEpsilon, false, false);
  }

 private:
  at::Tensor first_, second_;
};

// torch.optim.SparseAdam (PyTorch 2.11, _functional.sparse_adam), line by line.
class SparseAdam : public TorchTable {
 public:
  explicit SparseAdam(const at::Tensor& weights)
      : TorchTable(weights, true), first_(at::zeros_like(weights)), second_(at::zeros_like(weights)) {}
  const char* name() const override { return "sparse gradient, SparseAdam"; }
  void Update(int64_t number) override {
    const at::Tensor gradient = weights_.grad().coalesce();
    const at::Tensor indices = gradient._indices(), values = gradient._values();
    const auto like = [&](const at::Tensor& of) {
      return at::_sparse_coo_tensor_unsafe(indices, of, gradient.sizes());
    };
    const at::Tensor old_first = first_.sparse_mask(gradient)._values();
    const at::Tensor first_update = values.sub(old_first).mul_(1 - kBeta1);
    first_.add_(like(first_update));
    const at::Tensor old_second = second_.sparse_mask(gradient)._values();
    const at::Tensor second_update = values.pow(2).sub_(old_second).mul_(1 - kBeta2);
    second_.add_(like(second_update));
    const at::Tensor numerator = first_update.add_(old_first);
    const at::Tensor denominator = second_update.add_(old_second).sqrt_().add_(kEpsilon);
    const double size = kRate * std::sqrt(1 - std::pow(kBeta2, number)) / (1 - std::pow(kBeta1, number));
    at::Tensor weights = weights_.detach();
    weights.add_(like(numerator.div_(denominator).mul_(-size)));
  }

 private:
  at::Tensor first_, second_;
};

std::vector<std::unique_ptr<Contender>> Contenders(const std::function<at::Tensor()>& weights) {
  std::vector<std::unique_ptr<Contender>> all;
  all.push_back(std::make_unique<OwnTable>(weights()));
  all.push_back(std::make_unique<DenseAdam>(weights()));
  all.push_back(std::make_unique<FusedAdam>(weights()));
  all.push_back(std::make_unique<SparseAdam>(weights()));
  return all;
}

// In a first step rows without a gradient stay, dense or not: all of them must make the same weights.
bool SameFirstStep() {
  const Setting small = {.rows = 1000, .width = 64, .examples = 32, .ids = 20};
  const at::Tensor start = at::randn({small.rows, small.width});
  std::vector<at::Tensor> weights;
  const auto contenders = Contenders([&] {
    weights.push_back(start.clone());
    return weights.back();
  });
  const Batch batch = MakeBatch(small, 1, true);
  bool same = true;
  for (size_t i = 0; i < contenders.size(); ++i) {
    contenders[i]->Step(batch, 1);
    const double moved = (weights[i] - start).abs().max().item<double>();
    const double difference = (weights[i] - weights[0]).abs().max().item<double>();
    // SparseAdam adds epsilon before it corrects the second moment, which tells where a gradient is tiny.
    const double tolerance = i + 1 == contenders.size() ? 0.05 * kRate : 1e-6;
    if (difference < tolerance && moved > 0.9 * kRate) continue;
    std::fprintf(stderr, "%s makes another first step: %g off\n", contenders[i]->name(), difference);
    same = false;
  }
  return same;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void Measure(const Setting& s, bool skewed, const std::vector<std::unique_ptr<Contender>>& contenders,
             int64_t* number) {
  std::vector<std::vector<double>> seconds(contenders.size());
  double distinct = 0;
  for (int round = 0; round < s.rounds; ++round) {
    std::vector<Batch> batches;
    for (int step = 0; step < s.steps; ++step) {
      batches.push_back(MakeBatch(s, *number + step, skewed));
      distinct += static_cast<double>(std::get<0>(at::_unique(batches.back().ids)).numel());
    }
    for (size_t i = 0; i < contenders.size(); ++i) {
      const double before = CpuSeconds();
      for (int step = 0; step < s.steps; ++step) contenders[i]->Step(batches[step], *number + step + 1);
      seconds[i].push_back((CpuSeconds() - before) / s.steps);
    }
    *number += s.steps;
  }
  std::printf("ids %s: %.0f distinct of %lld a step\n", skewed ? "by Zipf's law" : "uniform",
              distinct / (s.rounds * s.steps), static_cast<long long>(s.uses()));
  const double own = Median(seconds[0]);
  for (size_t i = 0; i < contenders.size(); ++i) {
    const double median = Median(seconds[i]);
    std::printf("  %-30s %9.2f ms a step   %6.1f times ours\n", contenders[i]->name(), 1e3 * median,
                median / own);
  }
}

int Main(int argc, char** argv) {
  Setting s;
  CLI::App app("A step on a large table of embeddings, ours beside LibTorch's");
  app.add_option("--rows", s.rows, "of the table")->check(CLI::Range(int64_t{2}, int64_t{1} << 28));
  app.add_option("--width", s.width, "of a row")->check(CLI::Range(1, 4096));
  app.add_option("--examples", s.examples, "of a batch")->check(CLI::Range(1, 1 << 20));
  app.add_option("--ids", s.ids, "of an example")->check(CLI::Range(1, 1 << 12));
  app.add_option("--rounds", s.rounds, "of which the median counts")->check(CLI::Range(1, 1000));
  app.add_option("--steps", s.steps, "of a round")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  at::set_num_threads(1);
  at::manual_seed(1);
  if (!SameFirstStep()) return 1;
  std::printf("%lld rows x %lld, batches of %lld x %lld ids, one thread, CPU time, median of %d rounds\n",
              static_cast<long long>(s.rows), static_cast<long long>(s.width),
              static_cast<long long>(s.examples), static_cast<long long>(s.ids), s.rounds);
  // The tables' values do not matter to the time: one for all saves memory.
  const at::Tensor weights = at::randn({s.rows, s.width});
  const auto contenders = Contenders([&] { return weights; });
  int64_t number = 0;
  for (bool skewed : {false, true}) Measure(s, skewed, contenders, &number);
  return 0;
}

}  // namespace
}  // namespace waymark

int main(int argc, char** argv) { return waymark::Main(argc, argv); }
