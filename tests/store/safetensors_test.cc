#include "store/package/safetensors.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>

#include "absl/strings/str_cat.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

class TensorFile {
 public:
  TensorFile()
      : path_(std::filesystem::temp_directory_path() / (absl::StrCat("waymark-", getpid(), ".safetensors"))) {
  }
  ~TensorFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }
  std::string Bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void Set(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  // A file of this header and data.
  void Set(const std::string& header, const std::string& data) {
    std::string bytes(8, '\0');
    const uint64_t length = header.size();
    std::memcpy(bytes.data(), &length, 8);
    Set(bytes + header + data);
  }
  std::string Refusal() const {
    const absl::Status status = ReadSafetensors(path_).status();
    CHECK(absl::IsDataLoss(status));
    return std::string(status.message());
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("the bytes of a small file are those of the format, worked out by hand") {
  TensorFile file;
  TensorMap tensors;
  tensors["w"] = TensorData::F32({1, 2}, {1.0f, -2.0f});
  REQUIRE(WriteSafetensors(file.path(), tensors).ok());
  // {"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}} has 56 bytes, a multiple of 8: no padding.
  const std::string header = R"({"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  REQUIRE(header.size() == 56);
  // 1.0f is 3F800000, -2.0f is C0000000, both little-endian.
  const std::string expected =
      std::string("\x38\0\0\0\0\0\0\0", 8) + header + std::string("\0\0\x80\x3f\0\0\0\xc0", 8);
  CHECK(file.Bytes() == expected);
  auto read = ReadSafetensors(file.path());
  REQUIRE(read.ok());
  CHECK(read->at("w").shape == std::vector<int64_t>{1, 2});
  CHECK(read->at("w").floats()[1] == -2.0f);
  CHECK(read->at("w").elements() == 2);
}

TEST_CASE("tensors of every type and shape come back") {
  TensorFile file;
  std::mt19937 random(1);
  TensorMap tensors;
  using Type = TensorData::Type;
  const std::pair<Type, size_t> types[] = {{Type::kF32, 4}, {Type::kF16, 2}, {Type::kI64, 8}, {Type::kU8, 1}};
  const std::vector<int64_t> shapes[] = {{}, {0}, {3}, {2, 0, 5}, {4, 5}, {1, 2, 3, 4}};
  for (const auto& [type, bytes] : types) {
    for (const auto& shape : shapes) {
      TensorData tensor;
      tensor.type = type;
      tensor.shape = shape;
      tensor.bytes.resize(bytes * static_cast<size_t>(tensor.elements()));
      for (uint8_t& byte : tensor.bytes) byte = static_cast<uint8_t>(random());
      tensors[absl::StrCat("t", tensors.size(), "/ \"ä")] = tensor;
    }
  }
  REQUIRE(WriteSafetensors(file.path(), tensors).ok());
  uint64_t header = 0;
  std::memcpy(&header, file.Bytes().data(), 8);
  CHECK(header % 8 == 0);
  auto read = ReadSafetensors(file.path());
  REQUIRE(read.status() == absl::OkStatus());
  REQUIRE(read->size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    CHECK(read->at(name).type == tensor.type);
    CHECK(read->at(name).shape == tensor.shape);
    CHECK(read->at(name).bytes == tensor.bytes);
  }
  CHECK(WriteSafetensors(file.path(), {}).ok());
  CHECK(ReadSafetensors(file.path())->empty());
}

TEST_CASE("a tensor whose bytes are not its shape's is not written") {
  TensorFile file;
  TensorData tensor = TensorData::F32({3}, {1.0f});
  CHECK(absl::IsInvalidArgument(WriteSafetensors(file.path(), {{"w", tensor}})));
  tensor.shape = {-1};
  CHECK(absl::IsInvalidArgument(WriteSafetensors(file.path(), {{"w", tensor}})));
  CHECK(absl::IsInvalidArgument(WriteSafetensors(file.path(), {{"\xff", TensorData::F32({1}, {1.0f})}})));
}

TEST_CASE("files that are cut short or whose header lies are refused, saying what is wrong") {
  TensorFile file;
  TensorMap tensors;
  tensors["a"] = TensorData::F32({2}, {1.0f, 2.0f});
  tensors["b"] = TensorData::F32({1}, {3.0f});
  REQUIRE(WriteSafetensors(file.path(), tensors).ok());
  const std::string whole = file.Bytes();
  for (size_t length = 0; length < whole.size(); ++length) {
    file.Set(whole.substr(0, length));
    REQUIRE(absl::IsDataLoss(ReadSafetensors(file.path()).status()));
  }
  file.Set(whole + "x");
  CHECK(file.Refusal().find("1 bytes at its end") != std::string::npos);
  file.Set(std::string(8, '\xff') + whole.substr(8));
  CHECK(file.Refusal().find("header's length") != std::string::npos);

  const std::string eight(8, 'x');
  const auto refused = [&](const std::string& header, const std::string& data) {
    file.Set(header, data);
    return file.Refusal();
  };
  const auto one = [](const std::string& type, const std::string& shape, const std::string& offsets) {
    return absl::StrCat("{\"w\":{\"dtype\":\"", type, "\",\"shape\":", shape, ",\"data_offsets\":", offsets,
                        "}}");
  };
  CHECK(refused("{", eight).find("no JSON") != std::string::npos);
  CHECK(refused("[]", eight).find("no JSON object") != std::string::npos);
  CHECK(refused(std::string(100000, '['), eight).find("no JSON") != std::string::npos);
  CHECK(refused("{\"w\":1}", eight).find("'w'") != std::string::npos);
  CHECK(refused(one("F64", "[1]", "[0,8]"), eight).find("F64") != std::string::npos);
  CHECK(refused(one("F32", "[-2]", "[0,8]"), eight).find("shape") != std::string::npos);
  CHECK(refused(one("F32", "[2.5]", "[0,8]"), eight).find("shape") != std::string::npos);
  CHECK(refused(one("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]", "[0,8]"), eight).find("shape") !=
        std::string::npos);
  CHECK(refused(one("F32", "[2]", "[0]"), eight).find("data_offsets") != std::string::npos);
  CHECK(refused(one("F32", "[2]", "[8,0]"), eight).find("outside") != std::string::npos);
  CHECK(refused(one("F32", "[4]", "[0,16]"), eight).find("outside") != std::string::npos);
  CHECK(refused(one("F32", "[3]", "[0,8]"), eight).find("takes 12 bytes") != std::string::npos);
  CHECK(refused(one("F32", "[1]", "[4,8]"), eight).find("nothing covers") != std::string::npos);
  // 4 * 2^31 * 2^31 = 2^64 = 0 when it wraps; so does 2^62 * 4.
  CHECK(refused(one("F32", "[2147483648,2147483648]", "[0,0]"), "").find("over 2^64") != std::string::npos);
  CHECK(refused(one("F32", "[4611686018427387904]", "[0,0]"), "").find("over 2^64") != std::string::npos);
  CHECK(refused(one("F32", "[9223372036854775808]", "[0,0]"), "").find("shape") != std::string::npos);
  const std::string overlap =
      R"({"a":{"dtype":"U8","shape":[6],"data_offsets":[0,6]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})";
  CHECK(refused(overlap, eight).find("overlaps") != std::string::npos);
  const std::string twice =
      R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})";
  CHECK(refused(twice, eight).find("twice") != std::string::npos);
  file.Set(R"({"__metadata__":{"format":"pt"},"w":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})", eight);
  CHECK(ReadSafetensors(file.path())->size() == 1);
}

TEST_CASE("random damage to a header is refused or read, never more") {
  TensorFile file;
  TensorMap tensors;
  for (int i = 0; i < 5; ++i) tensors[absl::StrCat("t", i)] = TensorData::F32({4}, {1, 2, 3, 4});
  REQUIRE(WriteSafetensors(file.path(), tensors).ok());
  const std::string whole = file.Bytes();
  std::mt19937 random(5);
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = whole;
    for (uint32_t i = 0; i < 1 + random() % 3; ++i)
      damaged[random() % (whole.size() - 80)] = static_cast<char>(random());
    file.Set(damaged);
    auto read = ReadSafetensors(file.path());
    if (!read.ok()) {
      REQUIRE(absl::IsDataLoss(read.status()));
      continue;
    }
    size_t bytes = 0;
    for (const auto& [name, tensor] : *read) bytes += tensor.bytes.size();
    REQUIRE(bytes <= whole.size());
  }
}

}  // namespace waymark
