#include "store/package/model_package.h"

#include <unistd.h>

#include <fstream>

#include "tests/support/catch.h"

namespace waymark {
namespace {

struct PackageFolder {
  PackageFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "waymark-package-XXXXXX").string();
    root = mkdtemp(pattern.data());
  }
  ~PackageFolder() { std::filesystem::remove_all(root); }
  std::filesystem::path root;
};

storage::ModelManifest Manifest() {
  storage::ModelManifest manifest;
  manifest.set_kind("ranker");
  manifest.set_version("7");
  (*manifest.mutable_network())["width"] = 64;
  manifest.add_features("price");
  return manifest;
}

absl::StatusOr<ModelPackage> WriteSome(const std::filesystem::path& folder) {
  return WriteModelPackage(folder, Manifest(), {{"w", TensorData::F32({2}, {1, 2})}},
                           {{"items", {"a", "b\\n\nc", "", "\r", "ü"}}, {"empty", {}}});
}

std::string Contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string DataLoss(const std::filesystem::path& folder) {
  const absl::Status status = OpenModelPackage(folder).status();
  CHECK(absl::IsDataLoss(status));
  return std::string(status.message());
}

}  // namespace

TEST_CASE("SHA-256 is that of FIPS 180-2, appendix B") {
  CHECK(Sha256Hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  PackageFolder f;
  std::ofstream(f.root / "million", std::ios::binary) << std::string(1000000, 'a');
  CHECK(Sha256HexOfFile(f.root / "million").value() ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(absl::IsNotFound(Sha256HexOfFile(f.root / "none").status()));
}

TEST_CASE("a package is read back as it was written") {
  PackageFolder f;
  auto written = WriteSome(f.root / "deep" / "p");
  REQUIRE(written.status() == absl::OkStatus());
  auto package = OpenModelPackage(f.root / "deep" / "p");
  REQUIRE(package.status() == absl::OkStatus());
  CHECK(package->manifest.format() == 1);
  CHECK(package->manifest.version() == "7");
  CHECK(package->manifest.network().at("width") == 64);
  CHECK(package->content_sha256 == Sha256Hex(Contents(f.root / "deep" / "p" / "manifest.json")));
  CHECK(package->content_sha256 == written->content_sha256);
  CHECK(package->manifest.files_size() == 3);
  CHECK(ReadWeights(*package)->at("w").floats()[1] == 2.0f);
  CHECK(ReadVocabulary(*package, "items").value() == std::vector<std::string>{"a", "b\\n\nc", "", "\r", "ü"});
  CHECK(ReadVocabulary(*package, "empty")->empty());
  CHECK(absl::IsNotFound(ReadVocabulary(*package, "none").status()));
  CHECK(absl::IsNotFound(OpenModelPackage(f.root / "none").status()));
  // Nothing is left beside it.
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(f.root / "deep")) ++entries;
  CHECK(entries == 1);
}

TEST_CASE("the same content has the same hash") {
  PackageFolder f;
  CHECK(WriteSome(f.root / "a")->content_sha256 == WriteSome(f.root / "b")->content_sha256);
}

TEST_CASE("a package is never written over, and a refused one leaves nothing") {
  PackageFolder f;
  REQUIRE(WriteSome(f.root / "p").ok());
  CHECK(absl::IsAlreadyExists(WriteSome(f.root / "p").status()));
  CHECK(absl::IsInvalidArgument(WriteModelPackage(f.root / "q", Manifest(), {}, {{"../up", {}}}).status()));
  TensorData wrong;
  wrong.shape = {5};
  CHECK(absl::IsInvalidArgument(WriteModelPackage(f.root / "q", Manifest(), {{"w", wrong}}, {}).status()));
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(f.root)) ++entries;
  CHECK(entries == 1);
}

TEST_CASE("what was changed in a package is named") {
  PackageFolder f;
  const std::filesystem::path p = f.root / "p";
  const auto fresh = [&] {
    std::filesystem::remove_all(p);
    REQUIRE(WriteSome(p).ok());
  };
  fresh();
  std::ofstream(p / "items.txt", std::ios::binary | std::ios::app) << "x";
  CHECK(DataLoss(p).find("items.txt has") != std::string::npos);
  fresh();
  {
    std::fstream weights(p / "weights.safetensors", std::ios::in | std::ios::out | std::ios::binary);
    weights.seekp(-1, std::ios::end);
    weights.put('\x41');
  }
  CHECK(DataLoss(p).find("weights.safetensors has SHA-256") != std::string::npos);
  fresh();
  std::filesystem::remove(p / "empty.txt");
  CHECK(DataLoss(p).find("empty.txt is missing") != std::string::npos);
  fresh();
  std::filesystem::remove(p / "manifest.json");
  CHECK(DataLoss(p).find("manifest.json") != std::string::npos);
  fresh();
  const std::string manifest = Contents(p / "manifest.json");
  const auto set = [&](const std::string& from, const std::string& to) {
    std::string changed = manifest;
    const size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    std::ofstream(p / "manifest.json", std::ios::binary) << changed.replace(at, from.size(), to);
  };
  set("\"items.txt\"", "\"../items.txt\"");
  CHECK(DataLoss(p).find("outside its folder") != std::string::npos);
  set("{", "[");
  CHECK(DataLoss(p).find("manifest.json") != std::string::npos);
  set("\"weights.safetensors\"", "\"empty.txt\"");
  CHECK(DataLoss(p).find("lists no weights") != std::string::npos);
  set("\"format\": 1", "\"format\": 2, \"from_the_future\": true");
  const absl::Status newer = OpenModelPackage(p).status();
  CHECK(absl::IsFailedPrecondition(newer));
  CHECK(std::string(newer.message()).find("format 2") != std::string::npos);
}

TEST_CASE("a network's keys are all known and all there") {
  CHECK(CheckNetworkKeys(Manifest(), {"width"}).ok());
  const absl::Status unknown = CheckNetworkKeys(Manifest(), {});
  CHECK(absl::IsInvalidArgument(unknown));
  CHECK(std::string(unknown.message()).find("'width'") != std::string::npos);
  const absl::Status lacking = CheckNetworkKeys(Manifest(), {"width", "layers"});
  CHECK(absl::IsInvalidArgument(lacking));
  CHECK(std::string(lacking.message()).find("'layers'") != std::string::npos);
}

}  // namespace waymark
