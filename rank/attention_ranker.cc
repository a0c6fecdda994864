#include "rank/attention_ranker.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "rank/feature_table.h"
#include "rank/network/ranker_explanation.h"
#include "rank/network/ranker_item_vectors.h"
#include "rank/network/ranker_network.h"
#include "rank/network/ranker_tensors.h"
#include "rank/ranker_input.h"

namespace waymark {
namespace {

constexpr size_t kBlock = 256;  // candidates between two looks at the deadline
constexpr size_t kItemVectorsLimitBytes = size_t{4} << 30;

std::vector<float> ToVector(const torch::Tensor& t) {
  return std::vector<float>(t.data_ptr<float>(), t.data_ptr<float>() + t.numel());
}

class AttentionRanker : public Ranker {
 public:
  AttentionRanker(const ModelPackage& package, FeatureTable table, RankerNetwork network,
                  std::unique_ptr<RankerItemVectors> vectors, torch::Tensor words)
      : version_(package.manifest.version()),
        retriever_sha256_(package.manifest.retriever_sha256()),
        knows_queries_(
            KnowsQueries(package.manifest.data().lists(), package.manifest.data().lists_with_query())),
        table_(std::move(table)),
        network_(std::move(network)),
        vectors_(std::move(vectors)),
        words_(std::move(words)) {}

  const std::string& version() const override { return version_; }
  const std::string& retriever_sha256() const override { return retriever_sha256_; }
  bool knows_queries() const override { return knows_queries_; }

  absl::StatusOr<RankerScores> Score(const RequestContext& context, absl::Span<const Candidate> candidates,
                                     bool explain, Deadline deadline) const override {
    if (candidates.size() > kRankerCandidates) {
      return absl::InvalidArgumentError(
          absl::StrCat(candidates.size(), " candidates; a ranker takes at most ", kRankerCandidates));
    }
    if (deadline.Expired()) return Late(0, candidates.size());
    if (candidates.empty()) return RankerScores{};
    try {
      // Parallelism comes from many requests, not from within one.
      thread_local const bool one_thread = (at::set_num_threads(1), true);
      (void)one_thread;
      return ScoreBlocks(context, candidates, explain, deadline);
    } catch (const std::exception& e) {
      return absl::InternalError(absl::StrCat("ranker ", version_, ": ", e.what()));
    }
  }

 private:
  absl::Status Late(size_t done, size_t all) const {
    return absl::DeadlineExceededError(
        absl::StrCat("ranker ", version_, ": the deadline came after ", done, " of ", all, " candidates"));
  }

  torch::Tensor Vectors(absl::Span<const ItemOrdinal> items) const {
    torch::Tensor rows = torch::empty({1, static_cast<int64_t>(items.size()), vectors_->width()});
    vectors_->Read(items, rows.data_ptr<float>());
    return rows;
  }

  ListKeys HistoryKeys(const RankerInput& input) const {
    if (input.history.empty()) return {};
    const RankerConfig& config = network_->config();
    const size_t length = std::min(input.history.size(), static_cast<size_t>(config.history));
    std::vector<int64_t> slots;
    for (size_t i = 0; i < length; ++i) slots.push_back(EventTypeSlot(input.types[i], config.event_types));
    return network_->HistoryKeys(Vectors(absl::MakeConstSpan(input.history).subspan(0, length)),
                                 torch::tensor(slots).unsqueeze(0),
                                 torch::ones({1, static_cast<int64_t>(length)}, torch::kBool));
  }

  ListKeys QueryKeys(const RankerInput& input) const {
    const int64_t buckets = words_.size(0);
    if (input.query.empty() || buckets == 0) return {};
    std::vector<int64_t> rows;
    for (size_t i = 0; i < input.query.size() && i < static_cast<size_t>(network_->config().query_words);
         ++i) {
      rows.push_back(static_cast<int64_t>(input.query[i] % static_cast<uint64_t>(buckets)));
    }
    return network_->QueryKeys(words_.index_select(0, torch::tensor(rows)).unsqueeze(0),
                               torch::ones({1, static_cast<int64_t>(rows.size())}, torch::kBool));
  }

  absl::StatusOr<RankerScores> ScoreBlocks(const RequestContext& context,
                                           absl::Span<const Candidate> candidates, bool explain,
                                           Deadline deadline) const {
    const size_t n = candidates.size(), columns = table_.size();
    std::vector<float> features(n * columns);
    table_.Compute(context, candidates, absl::MakeSpan(features));
    std::vector<ItemOrdinal> items;
    items.reserve(n);
    for (const Candidate& c : candidates) items.push_back(c.item);
    const RankerInput input = MakeRankerInput(context);

    RankerScores scores;
    scores.engagement.reserve(n);
    // Explaining needs gradients; its tensors must not be made under inference mode.
    c10::InferenceMode inference(!explain);
    torch::NoGradGuard no_gradient;
    const ListKeys history = HistoryKeys(input), query = QueryKeys(input);
    for (size_t first = 0; first < n; first += kBlock) {
      if (first > 0 && deadline.Expired()) return Late(first, n);
      const size_t count = std::min(kBlock, n - first);
      const torch::Tensor x = network_->Standardise(torch::from_blob(
          &features[first * columns], {1, static_cast<int64_t>(count), static_cast<int64_t>(columns)}));
      const torch::Tensor own = Vectors(absl::MakeConstSpan(items).subspan(first, count));
      const torch::Tensor z = network_->Join(x, own, history, query, nullptr);
      const torch::Tensor total = (network_->Deep(z, nullptr) + network_->Skip(x)).select(2, 0).contiguous();
      for (float s : ToVector(total)) {
        if (!std::isfinite(s))
          return absl::InternalError(absl::StrCat("ranker ", version_, ": a score is not finite"));
        scores.engagement.push_back(s);
      }
      if (explain) Explain(input, x, z, absl::MakeConstSpan(features).subspan(first * columns), &scores);
    }
    return scores;
  }

  // Of the newest x.size(1) candidates.
  void Explain(const RankerInput& input, const torch::Tensor& x, const torch::Tensor& z,
               absl::Span<const float> features, RankerScores* scores) const {
    const RankerAttribution parts = Attribute(*network_, x, z);
    scores->baseline = parts.baseline;
    const size_t columns = table_.size(), count = static_cast<size_t>(x.size(1));
    const size_t first = scores->engagement.size() - count;
    for (size_t i = 0; i < count; ++i) {
      std::vector<Contribution> rows;
      double left = static_cast<double>(scores->engagement[first + i]) - parts.baseline;
      auto add = [&rows, &left](std::string name, float value, float part) {
        if (part == 0) return;
        left -= part;
        rows.push_back({std::move(name), value, part});
      };
      for (size_t c = 0; c < columns; ++c) {
        add(table_.features()[c].name, features[i * columns + c], parts.dense[i * columns + c]);
      }
      add("item", 1, parts.item[i]);
      add("history", static_cast<float>(input.history.size()), parts.history[i]);
      add("query", static_cast<float>(input.query.size()), parts.query[i]);
      add("interactions", 0, static_cast<float>(left));
      std::stable_sort(rows.begin(), rows.end(), [](const Contribution& a, const Contribution& b) {
        return std::abs(a.contribution) > std::abs(b.contribution);
      });
      scores->explanations.push_back(std::move(rows));
    }
  }

  const std::string version_, retriever_sha256_;
  const bool knows_queries_;
  const FeatureTable table_;
  mutable RankerNetwork network_;  // its methods are const; the holder's operator-> is not
  const std::unique_ptr<RankerItemVectors> vectors_;
  const torch::Tensor words_;  // [query buckets, width]
};

absl::StatusOr<FeatureTable> CheckedFeatures(const storage::ModelManifest& manifest) {
  auto table = FeatureTable::FromNames({manifest.features().begin(), manifest.features().end()});
  if (!table.ok()) return table.status();
  if (table->sha256() != manifest.features_sha256()) {
    return absl::FailedPreconditionError(
        absl::StrCat("features_sha256 is ", manifest.features_sha256(),
                     "; this program's definitions of these features have ", table->sha256(),
                     ": their formulas differ. Train the ranker again with this version"));
  }
  return table;
}

absl::StatusOr<std::unique_ptr<Ranker>> Load(const ModelPackage& package, const ItemDirectory* items,
                                             const std::string& retriever_sha256) {
  const storage::ModelManifest& manifest = package.manifest;
  if (manifest.kind() != "ranker") {
    return absl::InvalidArgumentError(absl::StrCat("kind is '", manifest.kind(), "', not 'ranker'"));
  }
  if (!manifest.retriever_sha256().empty() && manifest.retriever_sha256() != retriever_sha256) {
    return absl::FailedPreconditionError(absl::StrCat("it was trained on the signals of the retriever ",
                                                      manifest.retriever_sha256(), "; the release has ",
                                                      retriever_sha256.empty() ? "none" : retriever_sha256));
  }
  auto config = ReadRankerConfig(manifest);
  if (!config.ok()) return config.status();
  auto table = CheckedFeatures(manifest);
  if (!table.ok()) return table.status();
  if (config->features != static_cast<int64_t>(table->size())) {
    return absl::InvalidArgumentError(absl::StrCat("network.features is ", config->features, ", but ",
                                                   table->size(), " features are listed"));
  }
  auto weights = ReadWeights(package);
  if (!weights.ok()) return weights.status();
  auto ids = ReadVocabulary(package, "items");
  if (!ids.ok()) return ids.status();
  if (static_cast<int64_t>(ids->size()) != config->items) {
    return absl::InvalidArgumentError(
        absl::StrCat("items.txt has ", ids->size(), " entries; network.items is ", config->items));
  }
  RankerNetwork network(*config, 0);
  if (auto status = ReadModule(*weights, network.get()); !status.ok()) return status;
  if (!(network->feature_scale > 0).all().item<bool>()) {
    return absl::InvalidArgumentError("weights: feature_scale holds a value that is not positive");
  }
  for (torch::Tensor& p : network->parameters()) p.set_requires_grad(false);
  network->eval();
  auto id_rows = TakeTensor(*weights, "item_vectors", {config->items, config->width});
  if (!id_rows.ok()) return id_rows.status();
  auto content_rows = TakeTensor(*weights, "content_vectors", {config->content_buckets, config->width});
  if (!content_rows.ok()) return content_rows.status();
  auto words = TakeTensor(*weights, "query_vectors", {config->query_buckets, config->width});
  if (!words.ok()) return words.status();
  auto vectors =
      RankerItemVectors::Make({config->width, std::move(*ids), ToVector(*id_rows), ToVector(*content_rows)},
                              items, kItemVectorsLimitBytes);
  if (!vectors.ok()) return vectors.status();
  return std::make_unique<AttentionRanker>(package, std::move(*table), std::move(network),
                                           std::move(*vectors), std::move(*words));
}

}  // namespace

bool KnowsQueries(int64_t lists, int64_t lists_with_query) {
  return lists_with_query >= 100 && (lists_with_query >= 1000 || lists_with_query * 20 >= lists);
}

absl::StatusOr<std::unique_ptr<Ranker>> LoadAttentionRanker(const ModelPackage& package,
                                                            const ItemDirectory* items,
                                                            const std::string& retriever_sha256) {
  absl::StatusOr<std::unique_ptr<Ranker>> ranker = absl::UnknownError("");
  try {
    ranker = Load(package, items, retriever_sha256);
  } catch (const std::exception& e) {
    ranker = absl::InternalError(e.what());
  }
  if (ranker.ok()) return ranker;
  return absl::Status(ranker.status().code(),
                      absl::StrCat("ranker ", package.manifest.version(), " (", package.folder.string(),
                                   "): ", ranker.status().message()));
}

}  // namespace waymark
