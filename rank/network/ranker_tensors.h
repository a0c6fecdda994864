// Between a package's tensors and LibTorch's.
#pragma once
#include <torch/torch.h>

#include <string>

#include "absl/status/statusor.h"
#include "store/package/safetensors.h"

namespace waymark {

TensorData RankerTensorData(const torch::Tensor& tensor);

// A copy of the F32 tensor `name`; INVALID_ARGUMENT names it when it is missing, of another type or shape, or
// holds a value that is not finite.
absl::StatusOr<torch::Tensor> TakeTensor(const TensorMap& tensors, const std::string& name,
                                         const std::vector<int64_t>& shape);

// All parameters and buffers of a module by name, and back.
void AppendModule(const torch::nn::Module& module, TensorMap* tensors);
absl::Status ReadModule(const TensorMap& tensors, torch::nn::Module* module);

}  // namespace waymark
