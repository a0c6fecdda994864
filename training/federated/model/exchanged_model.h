// The model as sites and coordinator exchange it: one array of floats. First the encoder's tensors in the
// order of RetrieverShape::DenseTensors(), then the bucket table of item ids, then that of content.
//
//   auto layout = ExchangedLayout::Of(plan);       // refuses a plan out of its ranges
//   std::vector<float> model = InitialModel(plan, *layout);
//   auto package = WriteFederatedPackage(folder, plan, *layout, model, ids, about);
//
// No LibTorch in this header.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "recommend/network/retriever_shape.h"
#include "store/clock.h"
#include "store/package/model_package.h"
#include "training/federated/model/bucket_table.h"
#include "training/federated/model/server_optimizer.h"
#include "waymark/federated/plan.pb.h"

namespace waymark {

struct ExchangedLayout {
  RetrieverShape shape;
  BucketTable table;
  size_t dense = 0, ids = 0, content = 0;  // floats of each part
  size_t total() const { return dense + ids + content; }

  // INVALID_ARGUMENT names the value of the plan and what it takes.
  static absl::StatusOr<ExchangedLayout> Of(const federated::Plan& plan);
};

// A function of the plan alone. Rows are drawn so that an item's sum has the deviation of a plain id
// embedding.
std::vector<float> InitialModel(const federated::Plan& plan, const ExchangedLayout& layout);

// The model moves by the mean of a round's updates, by the plan's rule and rates. mean, model:
// [layout.total()]; what is left in mean is of no use.
void MoveModel(const federated::Plan& plan, const ExchangedLayout& layout, absl::Span<float> mean,
               ServerMoments* moments, absl::Span<float> model);

struct FederatedPackage {
  std::string version;
  const Clock* clock = Clock::Real();
  std::map<std::string, double> metrics;
};

// A retriever package like any other: the table is expanded to the items of `ids`, which are its vocabulary.
absl::StatusOr<ModelPackage> WriteFederatedPackage(const std::filesystem::path& folder,
                                                   const federated::Plan& plan, const ExchangedLayout& layout,
                                                   absl::Span<const float> model,
                                                   const std::vector<std::string>& ids,
                                                   const FederatedPackage& about);

}  // namespace waymark
