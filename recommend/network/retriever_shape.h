// The size of a retriever's network: what its package's manifest says under `network`, and the names and
// shapes of its tensors.
//
//   ASSIGN_OR_RETURN(RetrieverShape shape, RetrieverShape::FromManifest(manifest));
//   for (const NamedShape& tensor : shape.Tensors(vocabulary.size())) ...
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

struct NamedShape {
  std::string name;
  std::vector<int64_t> shape;
  int64_t elements() const;
};

struct RetrieverShape {
  int width = 64;
  int heads = 2;
  int blocks = 2;
  int hidden = 128;  // of the feed-forward branch
  int history_limit = 50;
  int time_buckets = 32;
  int content_buckets = 8192;  // rows that hashes of an item's content are folded into
  int content_width = 32;
  double temperature = 0.07;  // logit = cosine / temperature

  // INVALID_ARGUMENT names the value that is out of its range.
  absl::Status Check() const;
  void ToNetwork(google::protobuf::Map<std::string, double>* network) const;
  // Also refuses a package of another kind, and unknown or missing keys.
  static absl::StatusOr<RetrieverShape> FromManifest(const storage::ModelManifest& manifest);

  // The encoder's tensors and what all items share, in the order of the flat weight buffer
  // (retriever_weights.h).
  std::vector<NamedShape> DenseTensors() const;
  // The tables of which a step touches some rows only: items.id [items, width], content.buckets.
  std::vector<NamedShape> Tables(int64_t items) const;
};

}  // namespace waymark
