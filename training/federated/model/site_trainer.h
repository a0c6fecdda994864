// A site's own work in a round: from the exchanged model to how it moved on the site's events, with the same
// steps as TrainRetriever (training/retriever/). Items are trained as rows of the site's own vocabulary;
// their moves are then folded into the bucket table.
//
//   auto trainer = SiteTrainer::Make(interactions, items, plan, {.site = "north", .threads = 2});
//   auto update = (*trainer)->Train(model, round, stop);
//
// From round to round the moments of Adam are kept, in memory alone: a site that was restarted begins with
// new ones. LibTorch stays behind this header. One thread at a time.
#pragma once
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "candidates/item_directory.h"
#include "recommend/interactions.h"
#include "training/federated/model/exchanged_model.h"

namespace waymark {

struct SiteTrainerOptions {
  std::string site;  // its batches are in another order than those of other sites
  int threads = 1;
};

struct LocalUpdate {
  std::vector<float> moved;  // [layout.total()]: after minus before; not clipped
  double loss = 0;           // mean over the round's batches
  int64_t events = 0;        // trained on in the round
  // Of the model as it came, on the held-out events; users 0: none are held out.
  double ndcg10 = 0, hit10 = 0;
  int64_t users = 0;
};

class SiteTrainer {
 public:
  virtual ~SiteTrainer() = default;
  // Borrows the interactions. FAILED_PRECONDITION: too little data; INVALID_ARGUMENT: the plan.
  static absl::StatusOr<std::unique_ptr<SiteTrainer>> Make(const Interactions& interactions,
                                                           const ItemDirectory& items,
                                                           const federated::Plan& plan,
                                                           const SiteTrainerOptions& options);
  // `round` from 1. CANCELLED when stopped; INTERNAL: the loss is not finite.
  virtual absl::StatusOr<LocalUpdate> Train(absl::Span<const float> model, int round,
                                            std::stop_token stop) = 0;
};

}  // namespace waymark
