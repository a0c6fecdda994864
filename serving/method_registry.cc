#include "serving/method_registry.h"

#include <cassert>

namespace waymark {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;

void MethodRegistry::Put(std::string_view full_name, const MethodOptions& options, const Message* request,
                         const Message* response, UnaryHandler handler) {
  const auto* descriptor = DescriptorPool::generated_pool()->FindMethodByName(std::string(full_name));
  assert(descriptor != nullptr && descriptor->input_type() == request->GetDescriptor() &&
         descriptor->output_type() == response->GetDescriptor());
  methods_[std::string(full_name)] = {descriptor, request, response, options, std::move(handler)};
}

const Method* MethodRegistry::Find(std::string_view full_name) const {
  const auto found = methods_.find(full_name);
  return found == methods_.end() ? nullptr : &found->second;
}

std::vector<std::string> MethodRegistry::Missing(const google::protobuf::ServiceDescriptor& service) const {
  std::vector<std::string> missing;
  for (int i = 0; i < service.method_count(); ++i) {
    const auto* method = service.method(i);
    if (method->client_streaming() || method->server_streaming()) continue;
    if (Find(method->full_name()) == nullptr) missing.push_back(method->full_name());
  }
  return missing;
}

}  // namespace waymark
