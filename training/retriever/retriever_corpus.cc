#include "training/retriever/retriever_corpus.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "store/package/model_package.h"

namespace waymark {
namespace {

template <typename T>
std::string HashOf(const std::vector<T>& values) {
  return Sha256Hex({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

std::string Fingerprint(const RetrieverCorpus& corpus, const RetrieverOptions& o) {
  const Interactions& i = *corpus.interactions;
  google::protobuf::Map<std::string, double> map;
  o.shape.ToNetwork(&map);
  const std::map<std::string, double> network(map.begin(), map.end());
  std::string text = absl::StrCat(HashOf(i.starts), HashOf(i.items), HashOf(i.times_us),
                                  HashOf(corpus.content.starts), HashOf(corpus.content.buckets));
  for (const std::string& id : corpus.vocabulary) absl::StrAppend(&text, id, "\n");
  for (const auto& [key, value] : network) absl::StrAppend(&text, key, " ", value, "\n");
  absl::StrAppend(&text, o.negatives, " ", o.epochs, " ", o.patience, " ", o.held_out, " ");
  absl::StrAppend(&text, o.validation_users, " ", o.learning_rate, " ", o.warmup_steps, " ", o.clip, " ");
  absl::StrAppend(&text, o.batch_tokens, " ", o.shards, " ", o.dropout, " ", o.id_dropout, " ", o.seed);
  return Sha256Hex(text);
}

}  // namespace

absl::StatusOr<RetrieverCorpus> MakeRetrieverCorpus(const Interactions& interactions,
                                                    const ItemDirectory& items,
                                                    const RetrieverOptions& options) {
  RetrieverCorpus corpus;
  corpus.interactions = &interactions;
  std::vector<bool> seen(interactions.item_end, false);
  size_t pairs = 0;
  for (size_t u = 0; u < interactions.user_count(); ++u) {
    const uint64_t start = interactions.starts[u], end = interactions.starts[u + 1];
    corpus.ends.push_back(std::max(start, end - std::min<uint64_t>(end - start, options.held_out)));
    for (uint64_t e = start; e < corpus.ends[u]; ++e) seen[interactions.items[e]] = true;
    corpus.training_events += corpus.ends[u] - start;
    pairs += corpus.ends[u] - start >= 2 ? corpus.ends[u] - start - 1 : 0;
  }
  std::vector<int64_t> row_of(interactions.item_end, kNoRow);
  std::vector<ItemOrdinal> ordinals;
  for (ItemOrdinal item = 0; item < interactions.item_end; ++item) {
    if (!seen[item]) continue;
    row_of[item] = static_cast<int64_t>(ordinals.size());
    ordinals.push_back(item);
  }
  if (ordinals.size() < 2 || pairs == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("too little to train a retriever on: ", interactions.user_count(), " users, ",
                     ordinals.size(), " items and ", pairs, " successive pairs of events after ",
                     options.held_out, " held out for each user. Import more events with a positive sign"));
  }
  corpus.rows.reserve(interactions.items.size());
  for (ItemOrdinal item : interactions.items) corpus.rows.push_back(row_of[item]);
  corpus.vocabulary = items.Ids(ordinals);
  std::vector<std::vector<uint64_t>> hashes;
  items.Content(ordinals, &hashes);
  hashes.resize(ordinals.size());
  corpus.content = FoldContent(hashes, options.shape.content_buckets);
  corpus.fingerprint = Fingerprint(corpus, options);
  return corpus;
}

}  // namespace waymark
