#include "training/ranker/ranker_options.h"

#include "absl/strings/str_cat.h"
#include "rank/ranker_input.h"

namespace waymark {

absl::Status CheckRankerOptions(const RankerTrainerOptions& o) {
  struct Bound {
    const char* name;
    double value, least, most;
  };
  const Bound bounds[] = {
      {"learning_rate", o.learning_rate, 1e-9, 10},
      {"final_learning_rate_share", o.final_learning_rate_share, 0, 1},
      {"weight_decay", o.weight_decay, 0, 10},
      {"lists_per_batch", double(o.lists_per_batch), 1, 1e5},
      {"max_epochs", double(o.max_epochs), 1, 1e5},
      {"patience", double(o.patience), 1, 1e5},
      {"validation_share", o.validation_share, 0, 0.9},
      {"dropout", o.dropout, 0, 0.9},
      {"id_dropout", o.id_dropout, 0, 1},
      {"min_item_count", double(o.min_item_count), 1, 1e9},
      {"threads", double(o.threads), 1, 1024},
      {"checkpoint_steps", double(o.checkpoint_steps), 1, 1e12},
      {"content_buckets", double(o.content_buckets), 0, 1 << 28},
      {"query_buckets", double(o.query_buckets), 0, 1 << 28},
      {"width", double(o.width), 2, 1024},
      {"hidden1", double(o.hidden1), 1, 8192},
      {"hidden2", double(o.hidden2), 1, 8192},
      {"attention_heads", double(o.attention_heads), 1, 64},
  };
  for (const Bound& b : bounds) {
    if (b.value >= b.least && b.value <= b.most) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("ranker training: ", b.name, " is ", b.value, "; it takes ", b.least, " to ", b.most));
  }
  if (o.width % o.attention_heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat("ranker training: attention_heads is ", o.attention_heads,
                                                   ", which does not divide width ", o.width));
  }
  return absl::OkStatus();
}

RankerConfig RankerConfigFor(const RankerTrainerOptions& options, int64_t features, int64_t items,
                             int64_t content_buckets, bool with_query) {
  RankerConfig config;
  config.features = features;
  config.width = options.width;
  config.hidden1 = options.hidden1;
  config.hidden2 = options.hidden2;
  config.attention_heads = options.attention_heads;
  config.history = kRankerHistory;
  config.query_words = kRankerQueryWords;
  config.items = items;
  config.content_buckets = content_buckets;
  config.query_buckets = with_query ? options.query_buckets : 0;
  return config;
}

}  // namespace waymark
