#include "training/evaluation/recommend_evaluation.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "pipeline/blending_plan.h"
#include "rank/attention_ranker.h"
#include "rank/weighted_sum_ranker.h"

namespace waymark {
namespace {

// Scores each item of a catalogue row; what is not found stays lowest, tied.
using Scorer = std::function<absl::Status(RequestContext& context, const std::vector<Candidate>& merged,
                                          std::vector<ScoredItem>* scored)>;

struct NamedScorer {
  std::string name;
  Scorer score;
};

Scorer ByRanker(std::shared_ptr<const Ranker> ranker) {
  return [ranker](RequestContext& context, const std::vector<Candidate>& merged,
                  std::vector<ScoredItem>* scored) {
    if (merged.empty()) return absl::OkStatus();
    auto scores = ranker->Score(context, merged, false, Deadline::Never());
    if (!scores.ok()) return scores.status();
    for (size_t i = 0; i < merged.size(); ++i) scored->push_back({merged[i].item, scores->engagement[i]});
    return absl::OkStatus();
  };
}

// The part of the log that training may see, and the decisions that are asked.
struct Protocol {
  TrainingLog known;  // what recipes are cut from
  Recipe recipe;
  Cut test_view;
  std::vector<Decision> test;  // of the whole log
  bool as_known = false;
};

// The events that were received before `until`, with their users.
TrainingLog Before(const TrainingLog& log, absl::Time until) {
  TrainingLog out;
  out.queries = log.queries;
  out.item_end = log.item_end;
  out.up_to = log.up_to;
  const int64_t until_us = absl::ToUnixMicros(until);
  for (size_t u = 0; u < log.users.size(); ++u) {
    for (const TrainingEvent& event : log.EventsOf(u)) {
      if (event.received_us < until_us) out.events.push_back(event);
    }
    out.users.push_back(log.users[u]);
    out.starts.push_back(out.events.size());
  }
  return out;
}

absl::StatusOr<Protocol> MakeProtocol(const TrainingLog& log, const RecommendEvaluationOptions& options) {
  Protocol protocol;
  if (options.protocol == EvaluationProtocol::kLeaveOneOut) {
    protocol.known = log;
    protocol.recipe = LeaveOneOutRecipe(log, {.max_lists = options.max_decisions});
    protocol.test_view = {.newest_of_each_user = 2};
    for (const Decision& decision : LastDecisions(log, 1)) {
      if (decision.event >= 2) protocol.test.push_back(decision);  // users with three events or more
    }
  } else {
    const absl::Time boundary = log.ReceivedQuantile(1 - options.test_share);
    protocol.known = Before(log, boundary);
    auto recipe = ServingRecipe(protocol.known, {});
    if (!recipe.ok()) return recipe.status();
    protocol.recipe = *std::move(recipe);
    protocol.test_view.received_before = boundary;
    protocol.test = DecisionsBetween(log, boundary, absl::InfiniteFuture(), options.max_decisions);
    protocol.as_known = true;
  }
  if (protocol.test.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("nothing to ask: ", log.users.size(), " users with ", log.events.size(),
                     " events leave no test events; the protocol takes users with at least three"));
  }
  if (protocol.test.size() > options.max_decisions) {
    std::vector<Decision> spaced;
    for (size_t k = 0; k < options.max_decisions; ++k) {
      spaced.push_back(protocol.test[k * protocol.test.size() / options.max_decisions]);
    }
    protocol.test = std::move(spaced);
  }
  return protocol;
}

std::vector<NamedScorer> Scorers(const PastView& view, std::shared_ptr<const Ranker> ranker,
                                 std::shared_ptr<const Ranker> weighted_sum) {
  std::vector<NamedScorer> scorers;
  for (const CandidateSource* source : view.behaviour().Sources()) {
    if (source->id() == SourceId::kSimilar) continue;  // asks for context items
    scorers.push_back(
        {absl::StrCat("source ", std::string(SourceName(source->id()))),
         [source](RequestContext& context, const std::vector<Candidate>&, std::vector<ScoredItem>* scored) {
           if (!source->Applies(context)) return absl::OkStatus();
           auto answer = source->Find(context, kMaxCandidates, Deadline::Never());
           if (!answer.ok()) return answer.status();
           *scored = std::move(answer->items);
           return absl::OkStatus();
         }});
  }
  scorers.push_back({"merged sources", [](RequestContext&, const std::vector<Candidate>& merged,
                                          std::vector<ScoredItem>* scored) {
                       for (const Candidate& c : merged) scored->push_back({c.item, c.fusion_score});
                       return absl::OkStatus();
                     }});
  scorers.push_back({"weighted sum", ByRanker(std::move(weighted_sum))});
  scorers.push_back({"whole pipeline", ByRanker(std::move(ranker))});
  return scorers;
}

struct Asked {
  std::vector<double> ranks;                 // [scorers]
  std::vector<std::vector<uint32_t>> lists;  // [scorers][at most k]
};

// Ranks of the answer among all items: found ones by their score, all others tied behind them.
absl::Status Ask(const TrainingLog& log, Scope scope, const Decision& decision, const PastView& view,
                 const std::vector<NamedScorer>& scorers, const Protocol& protocol,
                 const RecommendEvaluationOptions& options, size_t catalogue, Asked* out) {
  RequestContext context = ContextOf(log, scope, decision, options.repeats, protocol.as_known);
  const ItemOrdinal target = AnswerOf(log, decision).item;
  const bool masked = std::binary_search(context.excluded.begin(), context.excluded.end(), target);
  auto merged = view.Candidates(&context, DefaultBlendingPlan());
  if (!merged.ok()) return merged.status();
  std::vector<ScoredItem> scored;
  for (const NamedScorer& scorer : scorers) {
    scored.clear();
    if (auto status = scorer.score(context, *merged, &scored); !status.ok()) return status;
    std::sort(scored.begin(), scored.end(), [](const ScoredItem& a, const ScoredItem& b) {
      return a.score != b.score ? a.score > b.score : a.item < b.item;
    });
    double rank = std::numeric_limits<double>::infinity();
    if (!masked) {
      const auto found = std::find_if(scored.begin(), scored.end(),
                                      [target](const ScoredItem& s) { return s.item == target; });
      if (found == scored.end()) {
        const double rest = static_cast<double>(catalogue - context.excluded.size() - scored.size());
        rank = static_cast<double>(scored.size()) + (rest + 1) / 2;
      } else {
        size_t better = 0, same = 0;
        for (const ScoredItem& s : scored) {
          if (s.score > found->score) ++better;
          if (s.score == found->score && s.item != target) ++same;
        }
        rank = 1 + static_cast<double>(better) + static_cast<double>(same) / 2;
      }
    }
    out->ranks.push_back(rank);
    std::vector<uint32_t>& list = out->lists.emplace_back();
    for (size_t i = 0; i < std::min(options.k, scored.size()); ++i) list.push_back(scored[i].item);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RecommendEvaluation> EvaluateRecommend(
    const TrainInput& input, const RecommendEvaluationOptions& options,
    const std::function<void(const TrainProgress&)>& progress, std::stop_token stop) {
  auto log = TrainingLog::Read(*input.store, input.scope, input.store->End());
  if (!log.ok()) return log.status();
  auto protocol = MakeProtocol(*log, options);
  if (!protocol.ok()) return protocol.status();

  const CatalogDirectory items(input.store, input.scope, input.catalog);
  TrainEnvironment environment;
  environment.scope = input.scope;
  environment.log_epoch = input.store->epoch();
  environment.view = {&items, input.catalog, nullptr};
  environment.clock = options.clock;
  TrainModelsOptions models;
  models.work_folder = options.work_folder;
  models.version = "evaluation";
  models.seed = options.seed;
  models.threads = options.threads;
  RecommendEvaluation out;
  auto trained = TrainModels(protocol->known, protocol->recipe, environment, models, progress, stop);
  if (!trained.ok()) return trained.status();
  out.models = *std::move(trained);

  auto retriever = Retriever::Load(*out.models.retriever, &items);
  if (!retriever.ok()) return retriever.status();
  auto ranker = LoadAttentionRanker(*out.models.ranker, &items, out.models.retriever->content_sha256);
  if (!ranker.ok()) return ranker.status();
  auto weighted_sum = MakeWeightedSumRanker({});
  if (!weighted_sum.ok()) return weighted_sum.status();
  const Interactions known = protocol->known.Known(protocol->test_view);
  auto view = PastView::Make(known, *std::move(retriever), environment.view);
  if (!view.ok()) return view.status();
  const std::vector<NamedScorer> scorers = Scorers(**view, *std::move(ranker), *std::move(weighted_sum));

  // The catalogue: every item of it, and every item that an event names.
  absl::flat_hash_set<ItemOrdinal> catalogue;
  for (const TrainingEvent& event : log->events) catalogue.insert(event.item);
  for (ItemOrdinal item = 0; item < log->item_end; ++item) {
    if (input.catalog->Live(item)) catalogue.insert(item);
  }
  out.catalogue = catalogue.size();
  out.decisions = protocol->test.size();
  std::vector<uint64_t> users_of(log->item_end, 0);
  for (size_t u = 0; u < known.user_count(); ++u) {
    absl::flat_hash_set<ItemOrdinal> met(known.ItemsOf(u).begin(), known.ItemsOf(u).end());
    for (ItemOrdinal item : met) ++users_of[item];
  }
  for (const NamedScorer& scorer : scorers) out.rows.push_back({scorer.name, {options.k, out.catalogue}});

  const absl::Time start = absl::Now();
  constexpr size_t kBlock = 256;
  for (size_t first = 0; first < protocol->test.size(); first += kBlock) {
    if (stop.stop_requested()) return absl::CancelledError("stopped while the test was asked");
    std::vector<Asked> block(std::min(kBlock, protocol->test.size() - first));
    std::vector<absl::Status> states(block.size());
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t i = next++; i < block.size(); i = next++) {
        states[i] = Ask(*log, input.scope, protocol->test[first + i], **view, scorers, *protocol, options,
                        out.catalogue, &block[i]);
      }
    };
    std::vector<std::thread> helpers;
    for (int t = 1; t < options.threads; ++t) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    for (size_t i = 0; i < block.size(); ++i) {
      if (!states[i].ok()) return states[i];
      for (size_t r = 0; r < out.rows.size(); ++r) {
        out.rows[r].metrics.AddRank(block[i].ranks[r]);
        std::vector<uint64_t> counts;
        for (uint32_t item : block[i].lists[r]) counts.push_back(users_of[item]);
        out.rows[r].metrics.AddList(block[i].lists[r], counts, known.user_count());
      }
    }
    if (progress) {
      const size_t done = first + block.size();
      const double share = static_cast<double>(done) / protocol->test.size();
      const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
      TrainProgress say{.stage = "test", .done = share, .stage_done = done == protocol->test.size()};
      say.detail = absl::StrFormat("%d/%d decisions  %.0f/s", done, protocol->test.size(),
                                   done / std::max(seconds, 1e-3));
      say.time_left = absl::Seconds(seconds / share * (1 - share));
      progress(say);
    }
  }
  return out;
}

}  // namespace waymark
