#include "recommend/field_vector.h"

#include <cmath>

#include "catalog/field_path.h"

namespace waymark {
namespace {

using storage::FieldRecord;

bool Euclidean(const Field& field) { return field.metric() == FieldRecord::EUCLIDEAN; }
bool Cosines(const Field& field) {
  return field.metric() == FieldRecord::COSINE || field.metric() == FieldRecord::METRIC_UNSPECIFIED;
}

double SquaredNorm(absl::Span<const float> vector) {
  double sum = 0;
  for (const float value : vector) sum += static_cast<double>(value) * value;
  return sum;
}

// False: it has no direction.
bool ToUnitLength(std::vector<float>* vector) {
  const double norm = std::sqrt(SquaredNorm(*vector));
  if (!(norm > 0)) return false;
  for (float& value : *vector) value = static_cast<float>(value / norm);
  return true;
}

}  // namespace

int IndexedWidth(const Field& field) { return field.dimension() + (Euclidean(field) ? 1 : 0); }

std::optional<std::vector<float>> IndexedVector(const Field& field, const google::protobuf::Struct& item) {
  std::optional<std::vector<float>> vector;
  ForEachAt(item, field.name(), [&](const google::protobuf::Value& value) {
    if (vector || value.list_value().values_size() != field.dimension()) return;
    std::vector<float> numbers;
    for (const auto& number : value.list_value().values()) {
      numbers.push_back(static_cast<float>(number.number_value()));
      if (number.kind_case() != google::protobuf::Value::kNumberValue || !std::isfinite(numbers.back()))
        return;
    }
    if (Cosines(field) && !ToUnitLength(&numbers)) return;
    if (Euclidean(field)) {
      numbers.push_back(static_cast<float>(SquaredNorm(numbers)));
      if (!std::isfinite(numbers.back())) return;
    }
    vector = std::move(numbers);
  });
  return vector;
}

std::vector<float> AskedVector(const Field& field, absl::Span<const float> values) {
  std::vector<float> asked(values.begin(), values.end());
  if (Cosines(field)) ToUnitLength(&asked);
  if (Euclidean(field)) {
    for (float& value : asked) value *= 2;
    asked.push_back(-1);
  }
  return asked;
}

double NearnessOf(const Field& field, absl::Span<const float> asked_for, absl::Span<const float> kept) {
  double product = 0, squared = 0, norm = 0;
  for (size_t i = 0; i < asked_for.size(); ++i) {
    const double difference = static_cast<double>(asked_for[i]) - kept[i];
    product += static_cast<double>(asked_for[i]) * kept[i];
    squared += difference * difference;
    norm += static_cast<double>(asked_for[i]) * asked_for[i];
  }
  if (Euclidean(field)) return -std::sqrt(squared);
  return Cosines(field) ? product / std::sqrt(norm) : product;
}

}  // namespace waymark
