#include "training/retriever/retriever_corpus.h"

#include "absl/strings/str_cat.h"
#include "store/package/model_package.h"
#include "training/retriever/retriever_rows.h"

namespace waymark {
namespace {

static_assert(kNoRow == -1, "as retriever_rows.h says");

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
  absl::StatusOr<RetrieverRows> rows = MakeRetrieverRows(interactions, options.held_out);
  if (!rows.ok()) return rows.status();
  RetrieverCorpus corpus;
  corpus.interactions = &interactions;
  corpus.rows = std::move(rows->rows);
  corpus.ends = std::move(rows->ends);
  corpus.training_events = rows->training_events;
  const std::vector<ItemOrdinal>& ordinals = rows->ordinals;
  corpus.vocabulary = items.Ids(ordinals);
  std::vector<std::vector<uint64_t>> hashes;
  items.Content(ordinals, &hashes);
  hashes.resize(ordinals.size());
  corpus.content = FoldContent(hashes, options.shape.content_buckets);
  corpus.fingerprint = Fingerprint(corpus, options);
  return corpus;
}

}  // namespace waymark
