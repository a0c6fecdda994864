#include "rank/network/ranker_tensors.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace waymark {

TensorData RankerTensorData(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  return TensorData::F32(flat.sizes().vec(),
                         absl::MakeConstSpan(flat.data_ptr<float>(), static_cast<size_t>(flat.numel())));
}

absl::StatusOr<torch::Tensor> TakeTensor(const TensorMap& tensors, const std::string& name,
                                         const std::vector<int64_t>& shape) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) {
    return absl::InvalidArgumentError(absl::StrCat("weights: tensor '", name, "' is missing"));
  }
  const TensorData& data = found->second;
  if (data.type != TensorData::Type::kF32) {
    return absl::InvalidArgumentError(absl::StrCat("weights: tensor '", name, "' is not F32"));
  }
  if (data.shape != shape) {
    return absl::InvalidArgumentError(absl::StrCat("weights: tensor '", name, "' has the shape [",
                                                   absl::StrJoin(data.shape, ", "), "]; this network takes [",
                                                   absl::StrJoin(shape, ", "), "]"));
  }
  torch::Tensor tensor = torch::empty(shape);
  if (data.bytes.size() != static_cast<size_t>(tensor.numel()) * sizeof(float)) {
    return absl::InvalidArgumentError(absl::StrCat("weights: tensor '", name, "' has ", data.bytes.size(),
                                                   " bytes, not ", tensor.numel() * sizeof(float)));
  }
  if (tensor.numel() > 0) std::memcpy(tensor.data_ptr<float>(), data.bytes.data(), data.bytes.size());
  if (!tensor.isfinite().all().item<bool>()) {
    return absl::InvalidArgumentError(
        absl::StrCat("weights: tensor '", name, "' holds a value that is not finite"));
  }
  return tensor;
}

void AppendModule(const torch::nn::Module& module, TensorMap* tensors) {
  for (const auto& item : module.named_parameters()) (*tensors)[item.key()] = RankerTensorData(item.value());
  for (const auto& item : module.named_buffers()) (*tensors)[item.key()] = RankerTensorData(item.value());
}

absl::Status ReadModule(const TensorMap& tensors, torch::nn::Module* module) {
  torch::NoGradGuard no_gradient;
  auto read = [&tensors](const torch::OrderedDict<std::string, torch::Tensor>& targets) -> absl::Status {
    for (const auto& item : targets) {
      auto value = TakeTensor(tensors, item.key(), item.value().sizes().vec());
      if (!value.ok()) return value.status();
      torch::Tensor target = item.value();
      target.copy_(*value);
    }
    return absl::OkStatus();
  };
  if (auto status = read(module->named_parameters()); !status.ok()) return status;
  return read(module->named_buffers());
}

}  // namespace waymark
