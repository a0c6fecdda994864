#include "recommend/network/retriever_shape.h"

#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "store/package/model_package.h"

namespace waymark {
namespace {

struct Field {
  const char* key;
  int RetrieverShape::*value;
  int low, high;
};
constexpr Field kFields[] = {
    {"width", &RetrieverShape::width, 8, 1024},
    {"heads", &RetrieverShape::heads, 1, 64},
    {"blocks", &RetrieverShape::blocks, 1, 64},
    {"hidden", &RetrieverShape::hidden, 8, 8192},
    {"history_limit", &RetrieverShape::history_limit, 1, 4096},
    {"time_buckets", &RetrieverShape::time_buckets, 1, 64},
    {"content_buckets", &RetrieverShape::content_buckets, 1, 1 << 24},
    {"content_width", &RetrieverShape::content_width, 1, 1024},
};
constexpr char kTemperature[] = "temperature";

}  // namespace

int64_t NamedShape::elements() const {
  int64_t count = 1;
  for (int64_t n : shape) count *= n;
  return count;
}

absl::Status RetrieverShape::Check() const {
  for (const Field& field : kFields) {
    const int value = this->*field.value;
    if (value < field.low || value > field.high) {
      return absl::InvalidArgumentError(
          absl::StrCat("network.", field.key, " is ", value, "; it takes ", field.low, " to ", field.high));
    }
  }
  if (width % heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("network.width (", width, ") must be a multiple of network.heads (", heads, ")"));
  }
  if (!(temperature >= 0.02 && temperature <= 10)) {
    return absl::InvalidArgumentError(
        absl::StrCat("network.temperature is ", temperature, "; it takes 0.02 to 10"));
  }
  return absl::OkStatus();
}

void RetrieverShape::ToNetwork(google::protobuf::Map<std::string, double>* network) const {
  for (const Field& field : kFields) (*network)[field.key] = this->*field.value;
  (*network)[kTemperature] = temperature;
}

absl::StatusOr<RetrieverShape> RetrieverShape::FromManifest(const storage::ModelManifest& manifest) {
  if (manifest.kind() != "retriever") {
    return absl::InvalidArgumentError(absl::StrCat("the package '", manifest.name(), "' is of kind '",
                                                   manifest.kind(), "', not 'retriever'"));
  }
  std::vector<std::string> keys{kTemperature};
  for (const Field& field : kFields) keys.push_back(field.key);
  if (absl::Status known = CheckNetworkKeys(manifest, keys); !known.ok()) return known;
  RetrieverShape shape;
  for (const Field& field : kFields) {
    const double value = manifest.network().at(field.key);
    if (!(std::abs(value) < 1e9) || value != std::floor(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("network.", field.key, " is ", value, "; it must be a whole number"));
    }
    shape.*field.value = static_cast<int>(value);
  }
  shape.temperature = manifest.network().at(kTemperature);
  if (absl::Status in_range = shape.Check(); !in_range.ok()) return in_range;
  return shape;
}

std::vector<NamedShape> RetrieverShape::DenseTensors() const {
  std::vector<NamedShape> tensors{{"items.unknown", {width}}, {"content.projection", {content_width, width}}};
  for (int b = 0; b < blocks; ++b) {
    const std::string block = absl::StrCat("blocks.", b, ".");
    tensors.push_back({block + "attention.norm.weight", {width}});
    tensors.push_back({block + "attention.norm.bias", {width}});
    tensors.push_back({block + "attention.input.weight", {4 * width, width}});  // query, key, value, gate
    tensors.push_back({block + "attention.input.bias", {4 * width}});
    tensors.push_back({block + "attention.position", {heads, history_limit}});
    tensors.push_back({block + "attention.time", {heads, time_buckets}});
    tensors.push_back({block + "attention.output.weight", {width, width}});
    tensors.push_back({block + "attention.output.bias", {width}});
    tensors.push_back({block + "feed.norm.weight", {width}});
    tensors.push_back({block + "feed.norm.bias", {width}});
    tensors.push_back({block + "feed.input.weight", {2 * hidden + width, width}});  // SwiGLU's two, gate
    tensors.push_back({block + "feed.input.bias", {2 * hidden + width}});
    tensors.push_back({block + "feed.output.weight", {width, hidden}});
    tensors.push_back({block + "feed.output.bias", {width}});
  }
  tensors.push_back({"final.norm.weight", {width}});
  tensors.push_back({"final.norm.bias", {width}});
  return tensors;
}

std::vector<NamedShape> RetrieverShape::Tables(int64_t items) const {
  return {{"items.id", {items, width}}, {"content.buckets", {content_buckets, content_width}}};
}

}  // namespace waymark
