#include "training/ranker/ranker_model.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rank/network/ranker_tensors.h"
#include "training/lap.h"
#include "training/ranker/autocast_bf16.h"

namespace waymark {
namespace {

// Large enough that products of vectors say something from the start, small beside what is learned.
constexpr double kVectorDeviation = 0.1;

}  // namespace

RankerModel::RankerModel(const RankerConfig& config, uint64_t seed, TrainingPrecision precision,
                         RowShare rows)
    : config_(config),
      precision_(precision),
      rows_(rows),
      init_(at::make_generator<at::CPUGeneratorImpl>(seed ^ 0x9E3779B97F4A7C15ull)),
      network_(config, seed),
      ids_(config.items, config.width, kVectorDeviation, init_, rows),
      content_(config.content_buckets, config.width, kVectorDeviation, init_, rows),
      words_(config.query_buckets, config.width, kVectorDeviation, init_, rows) {
  for (const torch::Tensor& p : network_->parameters()) {
    m_.push_back(torch::zeros_like(p));
    v_.push_back(torch::zeros_like(p));
  }
}

RankerModel::Leaves RankerModel::Gather(const RankerBatch& batch) const {
  return {ids_.Gather(batch.vocabulary_rows), content_.Gather(batch.content_rows),
          words_.Gather(batch.word_rows)};
}

std::vector<RankerModel::Leaves> RankerModel::FetchLeaves(absl::Span<const RankerBatch> batches,
                                                          RankerRanks* ranks) const {
  std::vector<Leaves> leaves(batches.size());
  const RowTable* const tables[] = {&ids_, &content_, &words_};
  constexpr torch::Tensor RankerBatch::*kRows[] = {&RankerBatch::vocabulary_rows, &RankerBatch::content_rows,
                                                   &RankerBatch::word_rows};
  constexpr torch::Tensor Leaves::*kLeaves[] = {&Leaves::ids, &Leaves::content, &Leaves::words};
  for (size_t t = 0; t < 3; ++t) {
    std::vector<torch::Tensor> wanted = {torch::empty({0}, torch::kLong)};
    for (const RankerBatch& batch : batches) wanted.push_back(batch.*kRows[t]);
    const auto [rows, places, counts] =
        at::_unique2(torch::cat(wanted), /*sorted=*/true, /*return_inverse=*/true);
    const torch::Tensor found =
        tables[t]->rows() > 0 ? ranks->Fetch(t, tables[t]->values(), rows) : torch::empty({0, config_.width});
    int64_t first = 0;
    for (size_t b = 0; b < batches.size(); ++b) {
      const int64_t count = (batches[b].*kRows[t]).size(0);
      leaves[b].*kLeaves[t] =
          found.index_select(0, places.narrow(0, first, count)).detach().requires_grad_(true);
      first += count;
    }
  }
  return leaves;
}

torch::Tensor RankerModel::Forward(const RankerNetwork& network, const RankerBatch& batch,
                                   const Leaves& leaves, double id_dropout, const RankerNoise* noise) const {
  const int64_t lists = batch.features.size(0), n = batch.features.size(1), width = config_.width;
  torch::Tensor ids = leaves.ids;
  if (noise != nullptr && id_dropout > 0) {
    ids = ids * torch::empty({ids.size(0), 1}).bernoulli_(1 - id_dropout, noise->generator);
  }
  torch::Tensor vectors = torch::zeros({batch.items, width}).index_add(0, batch.vocabulary_items, ids);
  if (batch.bag.size(0) > 0) {
    vectors =
        vectors +
        batch.bag_scale *
            torch::nn::functional::embedding_bag(
                batch.bag, leaves.content,
                torch::nn::functional::EmbeddingBagFuncOptions().offsets(batch.bag_starts).mode(torch::kSum));
  }
  auto rows = [width](const torch::Tensor& table, const torch::Tensor& places) {
    return table.index_select(0, places.reshape({-1})).view({places.size(0), places.size(1), width});
  };
  ListKeys history, query;
  if (batch.history.size(1) > 0) {
    history = network->HistoryKeys(rows(vectors, batch.history), batch.types, batch.history_valid);
  }
  if (batch.words.size(1) > 0) query = network->QueryKeys(rows(leaves.words, batch.words), batch.words_valid);
  const torch::Tensor x = network->Standardise(batch.features);
  const torch::Tensor z = network->Join(x, rows(vectors, batch.candidates), history, query, noise);
  const torch::Tensor scores = (network->Deep(z, noise) + network->Skip(x)).select(2, 0).to(torch::kFloat);
  return scores.view({lists, n}).masked_fill(batch.valid.logical_not(), -1e9);
}

torch::Tensor RankerModel::Score(const RankerBatch& batch) const {
  torch::NoGradGuard no_gradient;
  return Forward(network_, batch, Gather(batch), 0, nullptr);
}

std::vector<torch::Tensor> RankerModel::ScoreSpread(absl::Span<const RankerBatch> batches, RankerRanks* ranks,
                                                    ShardPool* pool) const {
  torch::NoGradGuard no_gradient;
  const std::vector<Leaves> leaves = FetchLeaves(batches, ranks);
  std::vector<torch::Tensor> scores(batches.size());
  pool->Run(batches.size(), [&](size_t b) {
    torch::NoGradGuard of_thread;
    scores[b] = Forward(network_, batches[b], leaves[b], 0, nullptr);
  });
  return scores;
}

void RankerModel::MakeReplicas(size_t count) {
  while (replicas_.size() < count) replicas_.push_back({RankerNetwork(config_, 0), {}, 0});
  for (Replica& replica : replicas_) {
    const auto bind = [](const std::vector<torch::Tensor>& from, std::vector<torch::Tensor> to) {
      for (size_t i = 0; i < from.size(); ++i) {
        to[i].set_data(from[i].detach());
        to[i].mutable_grad() = torch::Tensor();
      }
    };
    bind(network_->parameters(), replica.network->parameters());
    bind(network_->buffers(), replica.network->buffers());
  }
}

void RankerModel::RunReplica(Replica* replica, const RankerBatch& batch, const RankerNoiseOptions& noise,
                             uint64_t seed, double lists) {
  Lap lap;
  const RankerNoise network_noise{at::make_generator<at::CPUGeneratorImpl>(seed), noise.hidden, noise.joined};
  if (!spread()) replica->leaves = Gather(batch);
  torch::Tensor scores;
  {
    const AutocastBf16 autocast(precision_ == TrainingPrecision::kBf16);
    scores = Forward(replica->network, batch, replica->leaves, noise.id, &network_noise);
  }
  const torch::Tensor loss = -(batch.gains * torch::log_softmax(scores, 1)).sum() / lists;
  replica->loss = loss.item<double>();
  replica->forward_s = lap(&replica->cpu_s);
  loss.backward();
  replica->backward_s = lap(&replica->cpu_s);
}

RankerGradients RankerModel::GradientsOf(absl::Span<const RankerBatch> shards) const {
  torch::NoGradGuard no_gradient;
  const std::vector<torch::Tensor> parameters = network_->parameters();
  int64_t floats = 0;
  for (const torch::Tensor& p : parameters) floats += p.numel();
  const auto count = static_cast<int64_t>(shards.size());
  RankerGradients of;
  of.dense = torch::zeros({count, floats});
  of.touched = torch::zeros({count, static_cast<int64_t>(parameters.size())});
  for (size_t s = 0; s < shards.size(); ++s) {
    const auto row = static_cast<int64_t>(s);
    const std::vector<torch::Tensor> own = replicas_[s].network->parameters();
    int64_t first = 0;
    for (size_t i = 0; i < own.size(); ++i) {
      const int64_t size = parameters[i].numel();
      if (const torch::Tensor gradient = own[i].grad(); gradient.defined()) {
        of.dense.select(0, row).narrow(0, first, size).copy_(gradient.reshape({-1}));
        of.touched.select(0, row).data_ptr<float>()[i] = 1;
      }
      first += size;
    }
    const Leaves& leaves = replicas_[s].leaves;
    of.tables[0].push_back({shards[s].vocabulary_rows, leaves.ids.grad()});
    of.tables[1].push_back({shards[s].content_rows, leaves.content.grad()});
    of.tables[2].push_back({shards[s].word_rows, leaves.words.grad()});
    of.losses.push_back(replicas_[s].loss);
  }
  return of;
}

// Adds up in the order of the parts, so that the sum depends on neither the pool's threads nor the ranks.
void RankerModel::UpdateNetwork(const AdamWOptions& options, int64_t step, const RankerGradients& gradients) {
  torch::NoGradGuard no_gradient;
  const std::vector<torch::Tensor> parameters = network_->parameters();
  torch::Tensor sum = torch::zeros({gradients.dense.size(1)}), touched = gradients.touched.sum(0);
  for (int64_t p = 0; p < gradients.dense.size(0); ++p) sum.add_(gradients.dense.select(0, p));
  int64_t first = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const torch::Tensor gradient = sum.narrow(0, first, parameters[i].numel()).view_as(parameters[i]);
    first += parameters[i].numel();
    if (touched.data_ptr<float>()[i] == 0) continue;
    torch::Tensor value = parameters[i].detach();
    AdamWStep(options, step, gradient, &value, &m_[i], &v_[i]);
  }
}

double RankerModel::Step(absl::Span<const RankerBatch> shards, const AdamWOptions& options, int64_t step,
                         const RankerNoiseOptions& noise, uint64_t seed, ShardPool* pool,
                         const RankerShare& share) {
  Lap lap;
  MakeReplicas(shards.size());
  int64_t lists = share.lists;
  if (lists == 0) {
    for (const RankerBatch& batch : shards) lists += batch.features.size(0);
  }
  if (spread()) {
    std::vector<Leaves> leaves = FetchLeaves(shards, share.ranks);
    for (size_t s = 0; s < shards.size(); ++s) replicas_[s].leaves = std::move(leaves[s]);
    times_.communication += lap();
  }
  pool->Run(shards.size(), [&](size_t s) {
    const uint64_t part = share.parts.empty() ? s : share.parts[s];
    RunReplica(&replicas_[s], shards[s], noise, seed + part, static_cast<double>(lists));
  });
  // The parts' own times say how the passes divide; threads ran them side by side.
  const double passes = lap();
  double forward = 0, backward = 0;
  for (size_t s = 0; s < shards.size(); ++s) {
    forward += std::exchange(replicas_[s].forward_s, 0);
    backward += std::exchange(replicas_[s].backward_s, 0);
    times_.divided_cpu += std::exchange(replicas_[s].cpu_s, 0);
  }
  times_.forward += passes * forward / std::max(forward + backward, 1e-9);
  times_.backward += passes * backward / std::max(forward + backward, 1e-9);
  RankerGradients gradients = GradientsOf(shards);
  if (share.ranks != nullptr) {
    gradients.parts = share.parts;
    times_.backward += lap(&times_.own_cpu);
    share.ranks->Gather(&gradients);
    times_.communication += lap();
  }
  UpdateNetwork(options, step, gradients);
  ids_.Update(options, step, gradients.tables[0]);
  content_.Update(options, step, gradients.tables[1]);
  words_.Update(options, step, gradients.tables[2]);
  times_.optimizer += lap(&times_.own_cpu);
  return std::accumulate(gradients.losses.begin(), gradients.losses.end(), 0.0);
}

std::vector<RankerTensor> RankerModel::Trained() const {
  std::vector<RankerTensor> all;
  for (const auto& parameter : network_->named_parameters()) {
    const at::Tensor value = parameter.value().detach();
    all.push_back({parameter.key(), value, value.sizes().vec()});
  }
  const RowTable* const tables[] = {&ids_, &content_, &words_};
  for (size_t t = 0; t < 3; ++t) {
    const RowTable& table = *tables[t];
    if (table.rows() > 0) all.push_back({kTableNames[t], table.values_, {table.rows(), config_.width}, true});
  }
  return all;
}

std::vector<RankerTensor> RankerModel::Moments() const {
  std::vector<RankerTensor> all;
  const std::vector<std::string> names = network_->named_parameters().keys();
  for (size_t i = 0; i < names.size(); ++i) {
    all.push_back({absl::StrCat(names[i], ":m"), m_[i], m_[i].sizes().vec()});
    all.push_back({absl::StrCat(names[i], ":v"), v_[i], v_[i].sizes().vec()});
  }
  const RowTable* const tables[] = {&ids_, &content_, &words_};
  for (size_t t = 0; t < 3; ++t) {
    if (tables[t]->rows() == 0) continue;
    const std::vector<int64_t> shape = {tables[t]->rows(), config_.width};
    all.push_back({absl::StrCat(kTableNames[t], ":m"), tables[t]->m_, shape, true});
    all.push_back({absl::StrCat(kTableNames[t], ":v"), tables[t]->v_, shape, true});
  }
  return all;
}

TensorMap RankerModel::Weights() const {
  TensorMap tensors;
  AppendModule(*network_, &tensors);
  tensors["item_vectors"] = RankerTensorData(ids_.values());
  tensors["content_vectors"] = RankerTensorData(content_.values());
  tensors["query_vectors"] = RankerTensorData(words_.values());
  return tensors;
}

absl::Status RankerModel::ReadWeights(const TensorMap& tensors) {
  if (auto status = ReadModule(tensors, network_.get()); !status.ok()) return status;
  const std::pair<const char*, RowTable*> tables[] = {
      {"item_vectors", &ids_}, {"content_vectors", &content_}, {"query_vectors", &words_}};
  for (const auto& [name, table] : tables) {
    auto value = TakeTensor(tensors, name, table->values_.sizes().vec());
    if (!value.ok()) return value.status();
    table->values_ = std::move(*value);
  }
  return absl::OkStatus();
}

void RankerModel::AppendState(const std::string& prefix, TensorMap* tensors) const {
  for (auto& [name, data] : Weights()) (*tensors)[prefix + name] = std::move(data);
  const std::vector<std::string> names = network_->named_parameters().keys();
  for (size_t i = 0; i < names.size(); ++i) {
    (*tensors)[absl::StrCat(prefix, names[i], ":m")] = RankerTensorData(m_[i]);
    (*tensors)[absl::StrCat(prefix, names[i], ":v")] = RankerTensorData(v_[i]);
  }
  const std::pair<const char*, const RowTable*> tables[] = {
      {"item_vectors", &ids_}, {"content_vectors", &content_}, {"query_vectors", &words_}};
  for (const auto& [name, table] : tables) {
    (*tensors)[absl::StrCat(prefix, name, ":m")] = RankerTensorData(table->m_);
    (*tensors)[absl::StrCat(prefix, name, ":v")] = RankerTensorData(table->v_);
  }
}

absl::Status RankerModel::ReadState(const std::string& prefix, const TensorMap& tensors) {
  TensorMap own;
  for (const auto& [name, data] : tensors) {
    if (name.rfind(prefix, 0) == 0) own[name.substr(prefix.size())] = data;
  }
  if (auto status = ReadWeights(own); !status.ok()) return status;
  auto read = [&own](const std::string& name, torch::Tensor* target) -> absl::Status {
    auto value = TakeTensor(own, name, target->sizes().vec());
    if (!value.ok()) return value.status();
    *target = std::move(*value);
    return absl::OkStatus();
  };
  const std::vector<std::string> names = network_->named_parameters().keys();
  for (size_t i = 0; i < names.size(); ++i) {
    if (auto status = read(names[i] + ":m", &m_[i]); !status.ok()) return status;
    if (auto status = read(names[i] + ":v", &v_[i]); !status.ok()) return status;
  }
  const std::pair<const char*, RowTable*> tables[] = {
      {"item_vectors", &ids_}, {"content_vectors", &content_}, {"query_vectors", &words_}};
  for (const auto& [name, table] : tables) {
    if (auto status = read(absl::StrCat(name, ":m"), &table->m_); !status.ok()) return status;
    if (auto status = read(absl::StrCat(name, ":v"), &table->v_); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace waymark
