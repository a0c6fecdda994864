// Every seed, and mutations of each, through each target: the short run of what scripts/fuzz does for long.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "index/compiled_segment.h"
#include "tests/fuzz/targets.h"
#include "tests/support/catch.h"

namespace waymark::fuzz {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

fs::path SeedFolder(const std::string& name) {
  return fs::path(WAYMARK_SOURCE_DIR) / "tests/fuzz/seeds" / name;
}

std::vector<Bytes> Seeds(const std::string& name) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(SeedFolder(name))) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Bytes> seeds;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return seeds;
}

// Bytes changed, taken out, put in, repeated, or taken from another seed.
Bytes Mutated(Bytes bytes, const std::vector<Bytes>& seeds, std::mt19937* random) {
  const auto below = [&](size_t end) { return end == 0 ? 0 : (*random)() % end; };
  for (size_t n = 1 + below(4); n > 0; --n) {
    const size_t at = below(bytes.size());
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const size_t length = std::min(bytes.size() - at, 1 + below(12));
    switch (below(5)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<uint8_t>((*random)());
        break;
      case 1:
        bytes.erase(place, place + static_cast<std::ptrdiff_t>(length));
        break;
      case 2:
        bytes.insert(place, static_cast<uint8_t>((*random)()));
        break;
      case 3: {
        const Bytes part(place, place + static_cast<std::ptrdiff_t>(length));
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() + 1)), part.begin(),
                     part.end());
        break;
      }
      default: {
        const Bytes& other = seeds[below(seeds.size())];
        const size_t from = below(other.size());
        bytes.insert(place, other.begin() + static_cast<std::ptrdiff_t>(from),
                     other.begin() + static_cast<std::ptrdiff_t>(std::min(other.size(), from + below(30))));
      }
    }
  }
  return bytes;
}

// Of the mutations a good part is of use and a good part refused: neither all that is read nor all that
// refuses is left out.
void Run(const std::string& name, bool (*target)(const uint8_t*, size_t), int rounds) {
  const std::vector<Bytes> seeds = Seeds(name);
  REQUIRE(seeds.size() >= 3);
  std::mt19937 random(7);
  target(nullptr, 0);
  int taken = 0, refused = 0;
  for (const Bytes& seed : seeds) {
    target(seed.data(), seed.size());
    for (int i = 0; i < rounds; ++i) {
      const Bytes bytes = Mutated(seed, seeds, &random);
      target(bytes.data(), bytes.size()) ? ++taken : ++refused;
    }
  }
  INFO(taken << " taken, " << refused << " refused");
  CHECK(taken > rounds / 10);
  CHECK(refused > rounds / 10);
}

std::vector<Bytes> MakeCompiledSeeds() {
  struct Kind {
    unsigned documents, fields, terms;
    bool long_document, in_order;
  };
  std::vector<Bytes> seeds;
  for (const Kind& kind : {Kind{5, 1, 3, false, true}, Kind{40, 2, 6, false, false},
                           Kind{300, 1, 4, false, true}, Kind{20, 3, 5, true, false}}) {
    std::mt19937 random(static_cast<uint32_t>(seeds.size()));
    std::vector<ItemOrdinal> ordinals(kind.documents);
    for (unsigned i = 0; i < kind.documents; ++i) ordinals[i] = kind.in_order ? i : random() % 500;
    std::vector<std::string> fields;
    for (unsigned i = 0; i < kind.fields; ++i) fields.push_back("f" + std::to_string(i));
    CompiledSegmentBuilder builder("_" + std::to_string(seeds.size()), fields, ordinals);
    for (unsigned t = 0; t < kind.terms; ++t) {
      builder.StartTerm("term" + std::to_string(t));
      for (unsigned doc = random() % 3; doc < kind.documents; doc += 1 + random() % (t + 1)) {
        std::vector<int32_t> positions(kind.long_document && t == 0 && doc < 3 ? 70000 : 1 + random() % 3);
        for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int32_t>(i * 3);
        builder.Add(doc, random() % kind.fields, positions);
      }
    }
    const auto segment = builder.Finish();
    seeds.emplace_back(segment->image().begin(), segment->image().end());
  }
  return seeds;
}

// Seeds of a format of before would be refused at once, and nothing behind the header tried.
TEST_CASE("the seeds of compiled files are of today's format; WAYMARK_WRITE_SEEDS=1 writes them anew") {
  const std::vector<Bytes> made = MakeCompiledSeeds();
  if (std::getenv("WAYMARK_WRITE_SEEDS") != nullptr) {
    for (size_t i = 0; i < made.size(); ++i) {
      std::ofstream(SeedFolder("compiled") / ("0" + std::to_string(i)), std::ios::binary)
          .write(reinterpret_cast<const char*>(made[i].data()), static_cast<std::streamsize>(made[i].size()));
    }
  }
  CHECK(Seeds("compiled") == made);
}

TEST_CASE("any query is parsed within its limits, and every algorithm finds the same for it") {
  Run("query", Query, 5000);
}
TEST_CASE("any filter is refused, or passes by bitmaps what it passes item by item") {
  Run("filter", Filter, 5000);
}
TEST_CASE("any compiled file is refused or read within its bounds") { Run("compiled", CompiledFile, 5000); }

}  // namespace
}  // namespace waymark::fuzz
