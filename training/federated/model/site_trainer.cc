#include "training/federated/model/site_trainer.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "recommend/network/counter_random.h"
#include "training/retriever/one_intra_op_thread.h"
#include "training/retriever/retriever_step.h"
#include "training/retriever/retriever_validation.h"

namespace waymark {
namespace {

constexpr int64_t kStepsOfRound = int64_t{1} << 24;  // more than any round has
// That measure the model of a round, evenly spaced: less work than the round's own.
constexpr size_t kMeasuredUsers = 1000;
constexpr double kLastRate = 0.02;  // of the learning rate, where the decay over the rounds ends

RetrieverOptions OptionsOf(const federated::Plan& plan, const ExchangedLayout& layout,
                           const SiteTrainerOptions& site) {
  RetrieverOptions options;
  options.shape = layout.shape;
  options.negatives = plan.negatives();
  options.epochs = plan.local_epochs();
  options.held_out = plan.held_out();
  options.learning_rate = plan.learning_rate();
  options.clip = plan.gradient_clip();
  options.batch_tokens = plan.batch_tokens();
  options.dropout = plan.dropout();
  options.id_dropout = plan.id_dropout();
  options.validation_users = kMeasuredUsers;
  uint64_t name = 0;
  for (unsigned char c : site.site) name = MixBits(name ^ c);
  options.seed = RandomKey(plan.seed(), {name});
  options.threads = site.threads;
  return options;
}

class RetrieverSiteTrainer : public SiteTrainer {
 public:
  RetrieverSiteTrainer(RetrieverCorpus corpus, ExchangedLayout layout, RetrieverOptions options,
                       const federated::Plan& plan)
      : corpus_(std::move(corpus)),
        layout_(std::move(layout)),
        options_(options),
        plan_(plan),
        rows_(layout_.table.RowsOf(corpus_.vocabulary)),
        pool_(options.threads),
        local_(layout_.shape, static_cast<int64_t>(corpus_.vocabulary.size()), options.seed),
        step_(&local_, &corpus_, options_, &pool_) {}

  absl::StatusOr<LocalUpdate> Train(absl::Span<const float> model, int round, std::stop_token stop) override {
    if (model.size() != layout_.total()) {
      return absl::InvalidArgumentError(absl::StrCat("the coordinator's model has ", model.size(),
                                                     " numbers; the plan's has ", layout_.total()));
    }
    try {
      OneIntraOpThread one_thread;
      return TrainFrom(model, round, stop);
    } catch (const c10::Error& e) {
      return absl::InternalError(
          absl::StrCat("LibTorch failed while the site trained: ", e.what_without_backtrace()));
    } catch (const std::bad_alloc&) {
      return absl::ResourceExhaustedError("not enough memory to train the plan's model at this site");
    }
  }

 private:
  absl::StatusOr<LocalUpdate> TrainFrom(absl::Span<const float> model, int round, std::stop_token stop) {
    Read(model, &local_);
    LocalUpdate update;
    if (options_.held_out > 0) {
      const RetrieverValidation v = ValidateRetriever(local_, corpus_, options_.validation_users, &pool_);
      update.ndcg10 = v.ndcg10;
      update.hit10 = v.hit10;
      update.users = static_cast<int64_t>(v.users);
    }
    const at::Tensor items_before = local_.tables.id.clone();
    const std::vector<TrainingBatch> batches = BatchesOfRound(round);
    double sum = 0;
    for (size_t b = 0; b < batches.size(); ++b) {
      if (stop.stop_requested()) return absl::CancelledError("the site was stopped in its training");
      // Of the step: what is drawn in it (negatives, dropout) differs in every round.
      const int64_t number = (round - 1) * kStepsOfRound + static_cast<int64_t>(b) + 1;
      const double done = (round - 1 + static_cast<double>(b) / batches.size()) / plan_.rounds();
      const double loss = step_.Run(batches[b], number, Rate(done, number));
      if (!std::isfinite(loss)) {
        return absl::InternalError(absl::StrCat("the loss is not finite in step ", number, " of round ",
                                                round, "; a smaller learning rate may help"));
      }
      sum += loss;
      update.events += static_cast<int64_t>(batches[b].tokens);
    }
    update.loss = sum / static_cast<double>(std::max<size_t>(batches.size(), 1));
    update.moved = Moved(model, local_.tables.id - items_before);
    return update;
  }

  // They follow those of the round before, as if it were one long training.
  std::vector<TrainingBatch> BatchesOfRound(int round) const {
    const uint64_t before = static_cast<uint64_t>(round - 1), parts = plan_.rounds_an_epoch();
    std::vector<TrainingBatch> all;
    if (parts > 1) {
      all = BatchesOfEpoch(corpus_, options_, before / parts);
      const size_t part = before % parts, first = all.size() * part / parts,
                   end = all.size() * (part + 1) / parts;
      return {all.begin() + static_cast<int64_t>(first), all.begin() + static_cast<int64_t>(end)};
    }
    for (int epoch = 0; epoch < plan_.local_epochs(); ++epoch) {
      for (TrainingBatch& batch : BatchesOfEpoch(corpus_, options_, before * plan_.local_epochs() + epoch)) {
        all.push_back(std::move(batch));
      }
    }
    return all;
  }

  double Rate(double done, int64_t number) const {
    const double warm = std::min(1.0, static_cast<double>(number) / std::max(options_.warmup_steps, 1));
    return options_.learning_rate * warm * (1 - std::min(done, 1.0) * (1 - kLastRate));
  }

  void Read(absl::Span<const float> model, RetrieverModel* local) const {
    const float* from = model.data();
    for (at::Tensor& tensor : local->dense.tensors) {
      std::copy_n(from, tensor.numel(), tensor.data_ptr<float>());
      from += tensor.numel();
    }
    Expand(layout_.table, rows_, model.subspan(layout_.dense, layout_.ids), layout_.shape.width,
           absl::MakeSpan(local->tables.id.data_ptr<float>(), static_cast<size_t>(local->tables.id.numel())));
    std::copy_n(model.data() + layout_.dense + layout_.ids, layout_.content,
                local->tables.buckets.data_ptr<float>());
  }

  std::vector<float> Moved(absl::Span<const float> model, const at::Tensor& items) const {
    std::vector<float> moved(layout_.total());
    size_t at = 0;
    for (const at::Tensor& tensor : local_.dense.tensors) {
      const float* after = tensor.data_ptr<float>();
      for (int64_t i = 0; i < tensor.numel(); ++i, ++at) moved[at] = after[i] - model[at];
    }
    Fold(layout_.table, rows_,
         absl::MakeConstSpan(items.data_ptr<float>(), static_cast<size_t>(items.numel())),
         layout_.shape.width, absl::MakeSpan(moved).subspan(layout_.dense, layout_.ids));
    at += layout_.ids;
    const float* after = local_.tables.buckets.data_ptr<float>();
    for (size_t i = 0; i < layout_.content; ++i, ++at) moved[at] = after[i] - model[at];
    return moved;
  }

  RetrieverCorpus corpus_;
  ExchangedLayout layout_;
  RetrieverOptions options_;
  federated::Plan plan_;
  std::vector<uint32_t> rows_;
  ShardPool pool_;
  RetrieverModel local_;
  RetrieverStep step_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SiteTrainer>> SiteTrainer::Make(const Interactions& interactions,
                                                               const ItemDirectory& items,
                                                               const federated::Plan& plan,
                                                               const SiteTrainerOptions& site) {
  auto layout = ExchangedLayout::Of(plan);
  if (!layout.ok()) return layout.status();
  const RetrieverOptions options = OptionsOf(plan, *layout, site);
  if (auto status = options.Check(); !status.ok()) return status;
  auto corpus = MakeRetrieverCorpus(interactions, items, options);
  if (!corpus.ok()) return corpus.status();
  const size_t items_here = corpus->vocabulary.size();
  try {
    return std::make_unique<RetrieverSiteTrainer>(*std::move(corpus), *std::move(layout), options, plan);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat("not enough memory for the plan's model over the ", items_here, " items of this site"));
  }
}

}  // namespace waymark
