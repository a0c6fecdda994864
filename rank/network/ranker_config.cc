#include "rank/network/ranker_config.h"

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "store/package/model_package.h"

namespace waymark {
namespace {

constexpr char kHeadPrefix[] = "head:";

struct Bound {
  const char* name;
  int64_t RankerConfig::*member;
  int64_t least, most;
};
// The bounds keep a damaged or hostile manifest from asking for absurd memory.
constexpr Bound kBounds[] = {
    {"features", &RankerConfig::features, 1, 4096},
    {"width", &RankerConfig::width, 2, 1024},
    {"attention_heads", &RankerConfig::attention_heads, 1, 64},
    {"history", &RankerConfig::history, 1, 1000},
    {"query_words", &RankerConfig::query_words, 1, 1000},
    {"hidden1", &RankerConfig::hidden1, 1, 8192},
    {"hidden2", &RankerConfig::hidden2, 1, 8192},
    {"items", &RankerConfig::items, 0, int64_t{1} << 31},
    {"content_buckets", &RankerConfig::content_buckets, 0, int64_t{1} << 28},
    {"query_buckets", &RankerConfig::query_buckets, 0, int64_t{1} << 28},
    {"event_types", &RankerConfig::event_types, 2, 4096},
};

}  // namespace

void WriteRankerConfig(const RankerConfig& config, storage::ModelManifest* manifest) {
  auto& map = *manifest->mutable_network();
  for (const Bound& b : kBounds) map[b.name] = static_cast<double>(config.*b.member);
  map["clip"] = config.clip;
  for (size_t i = 0; i < config.heads.size(); ++i) {
    map[absl::StrCat(kHeadPrefix, config.heads[i])] = static_cast<double>(i);
  }
}

absl::StatusOr<RankerConfig> ReadRankerConfig(const storage::ModelManifest& manifest) {
  RankerConfig config;
  std::vector<std::string> known = {"clip"};
  for (const Bound& b : kBounds) known.push_back(b.name);
  std::vector<std::string> heads;
  for (const auto& [key, order] : manifest.network()) {
    if (!absl::StartsWith(key, kHeadPrefix)) continue;
    known.push_back(key);
    heads.push_back(key.substr(sizeof(kHeadPrefix) - 1));
  }
  if (auto status = CheckNetworkKeys(manifest, known); !status.ok()) return status;
  for (const Bound& b : kBounds) {
    const double value = manifest.network().at(b.name);
    if (!(value >= b.least && value <= b.most) || value != std::floor(value)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "network.", b.name, " is ", value, "; it takes a whole number from ", b.least, " to ", b.most));
    }
    config.*b.member = static_cast<int64_t>(value);
  }
  config.clip = manifest.network().at("clip");
  if (!(config.clip > 0 && config.clip <= 1e6)) {
    return absl::InvalidArgumentError(absl::StrCat("network.clip is ", config.clip, "; it takes 0 to 1e6"));
  }
  if (config.width % config.attention_heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat("network.attention_heads is ", config.attention_heads,
                                                   ", which does not divide network.width ", config.width));
  }
  // The map does not keep an order; each head's value is its place.
  config.heads.assign(heads.size(), "");
  for (const std::string& head : heads) {
    const double place = manifest.network().at(absl::StrCat(kHeadPrefix, head));
    if (!(place >= 0 && place < static_cast<double>(heads.size())) || place != std::floor(place) ||
        head.empty() || !config.heads[static_cast<size_t>(place)].empty()) {
      return absl::InvalidArgumentError(absl::StrCat("network.head:", head, " is ", place,
                                                     "; heads take the places 0 to ", heads.size() - 1));
    }
    config.heads[static_cast<size_t>(place)] = head;
  }
  if (config.heads.empty() || config.heads[0] != "engagement") {
    return absl::InvalidArgumentError(
        "network: the first head of a ranker is head:engagement; it is missing");
  }
  return config;
}

}  // namespace waymark
