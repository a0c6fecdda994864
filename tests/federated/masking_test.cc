#include <numeric>

#include "recommend/network/counter_random.h"
#include "tests/support/catch.h"
#include "training/federated/secure/mask_removal.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;

constexpr size_t kNumbers = 1000;

// A round among n sites up to the masked vectors; the test plays the coordinator.
struct Sites {
  explicit Sites(size_t n) {
    round.label = "session 1 round 1";
    for (size_t s = 0; s < n; ++s) {
      sites.push_back(*MaskingSite::Make(round.label));
      round.participants.push_back({static_cast<uint8_t>(s + 1), "site" + std::to_string(s + 1),
                                    sites[s].sealing_key(), sites[s].masking_key()});
      std::vector<uint64_t> own(kNumbers);
      for (size_t i = 0; i < kNumbers; ++i) own[i] = RandomBits64(s + 1, i);
      plain.push_back(own);
    }
    for (size_t s = 0; s < n; ++s) {
      const auto sealed = sites[s].Share(round.participants, static_cast<uint8_t>(s + 1));
      REQUIRE(sealed.ok());
      for (const auto& [to, box] : *sealed) boxes[to][static_cast<uint8_t>(s + 1)] = box;
    }
  }
  // `without` sends nothing after the keys.
  void MaskAll(std::vector<uint8_t> without = {}) {
    const auto gone = [&](uint8_t place) {
      return std::find(without.begin(), without.end(), place) != without.end();
    };
    for (size_t s = 0; s < sites.size(); ++s) {
      const auto place = static_cast<uint8_t>(s + 1);
      masked.push_back(plain[s]);
      if (gone(place)) continue;
      round.masked.push_back(place);
      auto incoming = boxes[place];
      for (uint8_t other : without) incoming.erase(other);
      REQUIRE(sites[s].Mask(incoming, absl::MakeSpan(masked[s])).ok());
    }
  }
  // The sum of the survivors' masked vectors, unmasked.
  absl::StatusOr<std::vector<uint64_t>> Sum(std::vector<uint8_t> survivors) {
    round.survivors = survivors;
    std::vector<uint64_t> sum(kNumbers, 0);
    for (uint8_t place : survivors) {
      for (size_t i = 0; i < kNumbers; ++i) sum[i] += masked[place - 1][i];
      auto revealed = sites[place - 1].Reveal(survivors);
      if (!revealed.ok()) return revealed.status();
      round.revealed[place] = *std::move(revealed);
    }
    if (auto status = RemoveMasks(round, absl::MakeSpan(sum)); !status.ok()) return status;
    return sum;
  }
  std::vector<uint64_t> PlainSum(const std::vector<uint8_t>& survivors) const {
    std::vector<uint64_t> sum(kNumbers, 0);
    for (uint8_t place : survivors) {
      for (size_t i = 0; i < kNumbers; ++i) sum[i] += plain[place - 1][i];
    }
    return sum;
  }

  MaskedRound round;
  std::vector<MaskingSite> sites;
  std::map<uint8_t, std::map<uint8_t, std::string>> boxes;
  std::vector<std::vector<uint64_t>> plain, masked;
};

TEST_CASE("The sum of masked vectors is exact when every site stays") {
  for (size_t n : {2, 3, 4, 7}) {
    Sites s(n);
    s.MaskAll();
    std::vector<uint8_t> all(n);
    std::iota(all.begin(), all.end(), uint8_t{1});
    const auto sum = s.Sum(all);
    REQUIRE(sum.ok());
    CHECK(*sum == s.PlainSum(all));
  }
}

TEST_CASE("A masked vector is not the update, nor does it keep anything of it") {
  Sites s(4);
  s.MaskAll();
  for (size_t site = 0; site < 4; ++site) {
    size_t same = 0;
    double high = 0;
    for (size_t i = 0; i < kNumbers; ++i) {
      same += s.masked[site][i] == s.plain[site][i];
      high += s.masked[site][i] >> 63;
    }
    CHECK(same == 0);
    // Uniform: the highest bit is set in half, here within 6 deviations of 1,000 coins.
    CHECK(std::abs(high - 500) < 95);
  }
  // Two vectors of the same site under other keys differ everywhere.
  Sites again(4);
  again.MaskAll();
  size_t same = 0;
  for (size_t i = 0; i < kNumbers; ++i) same += s.masked[0][i] == again.masked[0][i];
  CHECK(same == 0);
}

TEST_CASE("Sites that drop out after their shares leave the sum of the others exact") {
  Sites s(7);
  s.MaskAll();
  const std::vector<uint8_t> survivors{1, 3, 4, 6, 7};
  const auto sum = s.Sum(survivors);
  REQUIRE(sum.ok());
  CHECK(*sum == s.PlainSum(survivors));
}

TEST_CASE("Sites that drop out before and after their shares leave the sum exact") {
  Sites s(7);
  s.MaskAll({2});
  const std::vector<uint8_t> survivors{1, 3, 4, 5, 7};  // 6 drops after sharing
  const auto sum = s.Sum(survivors);
  REQUIRE(sum.ok());
  CHECK(*sum == s.PlainSum(survivors));
}

TEST_CASE("Not every survivor needs to reveal: the threshold is enough, one fewer is not") {
  for (size_t revealing : {5, 4}) {
    Sites s(7);  // threshold 5
    s.MaskAll();
    const std::vector<uint8_t> survivors{1, 2, 3, 4, 5, 7};
    std::vector<uint64_t> sum(kNumbers, 0);
    s.round.survivors = survivors;
    for (uint8_t place : survivors) {
      for (size_t i = 0; i < kNumbers; ++i) sum[i] += s.masked[place - 1][i];
      if (s.round.revealed.size() < revealing)
        s.round.revealed[place] = *s.sites[place - 1].Reveal(survivors);
    }
    const absl::Status status = RemoveMasks(s.round, absl::MakeSpan(sum));
    CHECK(status.ok() == (revealing == 5));
    if (revealing == 5) {
      CHECK(sum == s.PlainSum(survivors));
    } else {
      CHECK_THAT(std::string(status.message()), Contains("needs 5 shares, and there are 4"));
    }
  }
}

TEST_CASE("A site reveals one of a peer's two secrets, once, and for no fewer survivors than the threshold") {
  Sites s(4);  // threshold 3
  s.MaskAll();
  CHECK(absl::IsFailedPrecondition(s.sites[0].Reveal({1, 2}).status()));
  CHECK(absl::IsFailedPrecondition(s.sites[0].Reveal({2, 3, 4}).status()));  // itself not among them
  const auto revealed = s.sites[0].Reveal({1, 2, 3});
  REQUIRE(revealed.ok());
  REQUIRE(revealed->size() == 4);
  for (const RevealedShare& r : *revealed) CHECK(r.survived == (r.owner != 4));
  CHECK(absl::IsFailedPrecondition(s.sites[0].Reveal({1, 2, 3, 4}).status()));
}

TEST_CASE("Shares that were changed are found: on their way by the receiver, a dropped site's by its key") {
  Sites s(4);
  auto incoming = s.boxes[1];
  incoming[2][20] ^= 1;
  std::vector<uint64_t> values(kNumbers, 0);
  CHECK_THAT(std::string(s.sites[0].Mask(incoming, absl::MakeSpan(values)).message()),
             Contains("site 'site2'") && Contains("changed"));

  Sites other(4);
  other.MaskAll();
  const std::vector<uint8_t> survivors{1, 2, 3};
  std::vector<uint64_t> sum(kNumbers, 0);
  other.round.survivors = survivors;
  for (uint8_t place : survivors) {
    auto revealed = *other.sites[place - 1].Reveal(survivors);
    if (place == 2) revealed[3].share.bytes[5] ^= 1;  // X25519 ignores three bits of the first byte
    other.round.revealed[place] = revealed;
  }
  CHECK_THAT(std::string(RemoveMasks(other.round, absl::MakeSpan(sum)).message()),
             Contains("'site4'") && Contains("do not give the key"));
}

TEST_CASE("More than half of the sites are needed, so that no two lists of survivors get both secrets") {
  CHECK(ShareThreshold(2) == 2);
  CHECK(ShareThreshold(3) == 3);
  CHECK(ShareThreshold(4) == 3);
  CHECK(ShareThreshold(10) == 7);
  for (size_t n = 1; n <= 255; ++n) CHECK(2 * ShareThreshold(n) > n);
}

}  // namespace
}  // namespace waymark
