#include "store/package/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "store/package/package_files.h"

namespace waymark {
namespace {

using Type = TensorData::Type;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 16 << 20;
constexpr size_t kMaxDimensions = 16;

struct TypeName {
  Type type;
  const char* name;
  uint64_t bytes;
};
constexpr TypeName kTypes[] = {
    {Type::kF32, "F32", 4}, {Type::kF16, "F16", 2}, {Type::kI64, "I64", 8}, {Type::kU8, "U8", 1}};

const TypeName& NameOf(Type type) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes),
                       [&](const TypeName& t) { return t.type == type; });
}

// A tensor as the header describes it, checked against the file.
struct Place {
  std::string name;
  Type type = Type::kF32;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // in the bytes after the header
};

// Bytes that the shape takes; none when it does not fit 64 bits.
std::optional<uint64_t> BytesOf(const std::vector<int64_t>& shape, uint64_t element_bytes) {
  uint64_t bytes = element_bytes;
  for (int64_t dimension : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dimension), &bytes)) return std::nullopt;
  }
  return bytes;
}

bool IsUnsigned(const nlohmann::json& value) {
  return value.is_number_unsigned() &&
         value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
}

class HeaderReader {
 public:
  HeaderReader(const std::filesystem::path& file, uint64_t data_bytes)
      : file_(file), data_bytes_(data_bytes) {}

  absl::StatusOr<std::vector<Place>> Read(const std::string& header) {
    nlohmann::json document;
    // A name that comes twice would silently hide a tensor: the parser keeps the last.
    std::vector<std::string> names;
    bool twice = false;
    const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
      if (event == nlohmann::json::parse_event_t::key && depth == 1)
        names.push_back(parsed.get<std::string>());
      return depth <= 4;
    };
    document = nlohmann::json::parse(header, watch, /*allow_exceptions=*/false);
    std::sort(names.begin(), names.end());
    twice = std::adjacent_find(names.begin(), names.end()) != names.end();
    if (!document.is_object()) return Wrong("the header is no JSON object");
    if (twice) return Wrong("the header names a tensor twice");
    std::vector<Place> places;
    for (const auto& [name, description] : document.items()) {
      if (name == "__metadata__") continue;
      auto place = ReadPlace(name, description);
      if (!place.ok()) return place.status();
      places.push_back(std::move(*place));
    }
    absl::Status status = CheckCover(places);
    if (!status.ok()) return status;
    return places;
  }

 private:
  absl::Status Wrong(const std::string& what) const {
    return absl::DataLossError(absl::StrCat(file_.string(), ": ", what));
  }

  absl::StatusOr<Place> ReadPlace(const std::string& name, const nlohmann::json& description) const {
    Place place;
    place.name = name;
    const std::string tensor = absl::StrCat("tensor '", name.substr(0, 200), "': ");
    if (!description.is_object() || !description.contains("dtype") || !description.contains("shape") ||
        !description.contains("data_offsets")) {
      return Wrong(tensor + "lacks dtype, shape or data_offsets");
    }
    const nlohmann::json& dtype = description["dtype"];
    const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                    [&](const TypeName& t) { return dtype == t.name; });
    if (type == std::end(kTypes)) {
      return Wrong(
          absl::StrCat(tensor, "dtype is ", dtype.dump().substr(0, 60), "; F32, F16, I64 and U8 are taken"));
    }
    place.type = type->type;
    const nlohmann::json& shape = description["shape"];
    if (!shape.is_array() || shape.size() > kMaxDimensions ||
        !std::all_of(shape.begin(), shape.end(), IsUnsigned)) {
      return Wrong(tensor + "shape is no list of at most 16 whole numbers");
    }
    for (const auto& dimension : shape) place.shape.push_back(dimension.get<int64_t>());
    const nlohmann::json& offsets = description["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 ||
        !std::all_of(offsets.begin(), offsets.end(), IsUnsigned)) {
      return Wrong(tensor + "data_offsets are no pair of whole numbers");
    }
    place.begin = offsets[0].get<uint64_t>();
    place.end = offsets[1].get<uint64_t>();
    if (place.begin > place.end || place.end > data_bytes_) {
      return Wrong(absl::StrCat(tensor, "data_offsets ", place.begin, " to ", place.end, " lie outside the ",
                                data_bytes_, " bytes of data"));
    }
    const std::optional<uint64_t> bytes = BytesOf(place.shape, type->bytes);
    if (!bytes.has_value() || *bytes != place.end - place.begin) {
      return Wrong(absl::StrCat(tensor, "its shape takes ",
                                bytes.has_value() ? absl::StrCat(*bytes) : "over 2^64",
                                " bytes, its data_offsets hold ", place.end - place.begin));
    }
    return place;
  }

  // The format has no holes and no byte twice.
  absl::Status CheckCover(std::vector<Place>& places) const {
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    uint64_t at = 0;
    for (const Place& place : places) {
      if (place.begin < at)
        return Wrong(absl::StrCat("tensor '", place.name, "' overlaps the one before it"));
      if (place.begin > at)
        return Wrong(absl::StrCat("nothing covers the bytes before tensor '", place.name, "'"));
      at = place.end;
    }
    if (at != data_bytes_)
      return Wrong(absl::StrCat(data_bytes_ - at, " bytes at its end belong to no tensor"));
    return absl::OkStatus();
  }

  const std::filesystem::path& file_;
  uint64_t data_bytes_;
};

absl::Status CheckTensor(const std::string& name, const TensorData& tensor) {
  const bool negative =
      std::any_of(tensor.shape.begin(), tensor.shape.end(), [](int64_t d) { return d < 0; });
  const auto bytes = negative ? std::nullopt : BytesOf(tensor.shape, NameOf(tensor.type).bytes);
  if (name == "__metadata__" || !bytes.has_value() || *bytes != tensor.bytes.size() ||
      tensor.shape.size() > kMaxDimensions) {
    return absl::InvalidArgumentError(absl::StrCat("tensor '", name, "' has ", tensor.bytes.size(),
                                                   " bytes, which is not what its shape takes"));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t TensorData::elements() const {
  int64_t count = 1;
  for (int64_t dimension : shape) count *= dimension;
  return count;
}

absl::Span<const float> TensorData::floats() const {
  // The allocator's memory is aligned for any type.
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

TensorData TensorData::F32(std::vector<int64_t> shape, absl::Span<const float> values) {
  TensorData tensor;
  tensor.shape = std::move(shape);
  tensor.bytes.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

absl::StatusOr<TensorMap> ReadSafetensors(const std::filesystem::path& file) {
  static_assert(std::endian::native == std::endian::little, "tensors are little-endian");
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) return absl::NotFoundError(absl::StrCat(file.string(), " cannot be opened"));
  const auto wrong = [&](const std::string& what) {
    return absl::DataLossError(absl::StrCat(file.string(), ": ", what));
  };
  uint64_t header_bytes = 0;
  if (size < kLengthBytes || !in.read(reinterpret_cast<char*>(&header_bytes), kLengthBytes)) {
    return wrong("shorter than the 8 bytes of its header's length");
  }
  if (header_bytes > kMaxHeaderBytes || header_bytes > size - kLengthBytes) {
    return wrong(absl::StrCat("its header's length is ", header_bytes, ", the file has ", size,
                              " bytes and headers take at most ", kMaxHeaderBytes));
  }
  std::string header(header_bytes, '\0');
  if (!in.read(header.data(), static_cast<std::streamsize>(header_bytes)))
    return wrong("cut short in its header");
  auto places = HeaderReader(file, size - kLengthBytes - header_bytes).Read(header);
  if (!places.ok()) return places.status();

  TensorMap tensors;
  for (Place& place : *places) {  // in the order of their bytes
    TensorData& tensor = tensors[place.name];
    tensor.type = place.type;
    tensor.shape = std::move(place.shape);
    tensor.bytes.resize(place.end - place.begin);
    if (!in.read(reinterpret_cast<char*>(tensor.bytes.data()),
                 static_cast<std::streamsize>(tensor.bytes.size()))) {
      return wrong(absl::StrCat("cut short in tensor '", place.name, "'"));
    }
  }
  return tensors;
}

absl::Status WriteSafetensors(const std::filesystem::path& file, const TensorMap& tensors) {
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  std::vector<std::string_view> parts(2);
  uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    if (absl::Status status = CheckTensor(name, tensor); !status.ok()) return status;
    document[name] = {{"dtype", NameOf(tensor.type).name},
                      {"shape", tensor.shape},
                      {"data_offsets", {at, at + tensor.bytes.size()}}};
    at += tensor.bytes.size();
    parts.emplace_back(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  std::string header;
  try {
    header = document.dump();
  } catch (const nlohmann::json::exception&) {
    return absl::InvalidArgumentError(absl::StrCat(file.string(), ": a tensor's name is not UTF-8"));
  }
  // Spaces, so that the tensors begin at a multiple of 8.
  header.append((kLengthBytes - header.size() % kLengthBytes) % kLengthBytes, ' ');
  const uint64_t header_bytes = header.size();
  if (header_bytes > kMaxHeaderBytes) {
    return absl::InvalidArgumentError(absl::StrCat(file.string(), ": the header takes ", header_bytes,
                                                   " bytes; at most ", kMaxHeaderBytes, " are read again"));
  }
  parts[0] = {reinterpret_cast<const char*>(&header_bytes), kLengthBytes};
  parts[1] = header;
  return WriteSyncedFile(file, parts);
}

}  // namespace waymark
