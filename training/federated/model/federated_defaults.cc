#include "training/federated/model/federated_defaults.h"

#include "training/retriever/retriever_options.h"

namespace waymark {

federated::Plan DefaultPlan() {
  const RetrieverOptions options;
  federated::Plan plan;
  plan.set_format(1);
  options.shape.ToNetwork(plan.mutable_network());
  plan.set_seed(1);
  plan.set_buckets(32768);
  plan.set_hashes(2);
  plan.set_rounds(48);
  plan.set_local_epochs(1);
  plan.set_rounds_an_epoch(4);
  plan.set_learning_rate(options.learning_rate);
  // Sites work side by side: four of them make a step of the size of a central one.
  plan.set_batch_tokens(options.batch_tokens / 4);
  plan.set_negatives(options.negatives);
  plan.set_dropout(options.dropout);
  plan.set_id_dropout(options.id_dropout);
  plan.set_gradient_clip(options.clip);
  plan.set_held_out(1);
  plan.set_update_clip(100);
  plan.set_most_sites(64);
  plan.set_most_events(1 << 20);
  plan.set_sampling_rate(1);
  plan.set_delta(1e-5);
  plan.set_rule(federated::Plan::FEDAVG);
  plan.set_server_rate(1.5);
  plan.set_table_factor(3);
  return plan;
}

}  // namespace waymark
