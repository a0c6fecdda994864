#include "training/distributed/list_stream.h"

#include <fstream>
#include <map>

#include "tests/ranker_training/synthetic.h"
#include "tests/shards/written_lists.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

constexpr int kParts = 3;
constexpr int64_t kBatches = 7, kEpochs = 3;

struct Written {
  SyntheticDirectory directory{400, 10};
  ShardFolder folder{"waymark-list-stream"};
  RankingLists train = ListsOf(MakeWorld(Rule::kLargestFeature, 90, 0, 400, 1)),
               validation = ListsOf(MakeWorld(Rule::kLargestFeature, 10, 0, 400, 2));
  storage::ListsIndex index = WriteListShards(folder.path(), 8, train, validation, directory);
  ListReader reader{folder.path(), &index};
  // Two or three files a chunk.
  ListStreamOptions options{
      .seed = 5, .parts = kParts, .epochs = kEpochs, .chunk_bytes = 2 * index.files(0).raw_bytes() + 10};
  RankingLists Empty() const { return RankingLists(train.feature_count(), {}); }
};

// Users of the lists of a batch, in order.
std::vector<uint64_t> UsersOf(const RankingLists& lists) {
  std::vector<uint64_t> users;
  for (size_t i = 0; i < lists.size(); ++i) users.push_back(lists[i].user);
  return users;
}

TEST_CASE("each epoch gives every list once, as it was written, in another order") {
  const Written w;
  std::vector<std::vector<uint64_t>> epochs(kEpochs);
  for (uint64_t part = 0; part < kParts; ++part) {
    ListStream stream(&w.reader, &w.index, part, w.options);
    RankingLists lists = w.Empty();
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
      for (int64_t b = 0; b < kBatches; ++b) {
        REQUIRE(stream.Read(epoch, b, kBatches, &lists).ok());
        for (size_t i = 0; i < lists.size(); ++i) {
          const size_t row = lists[i].user - kFirstListUser;
          CHECK(lists[i].features == w.train[row].features);
          CHECK(lists[i].history == w.train[row].history);
          epochs[epoch].push_back(lists[i].user);
        }
      }
    }
  }
  CHECK(epochs[0] != epochs[1]);
  for (auto& users : epochs) {
    REQUIRE(users.size() == 90);
    CHECK(users != epochs[(&users - epochs.data() + 1) % kEpochs]);
    std::sort(users.begin(), users.end());
    for (size_t i = 0; i < 90; ++i) CHECK(users[i] == kFirstListUser + i);
  }
}

TEST_CASE("a stream that begins anywhere gives what one that came there gives") {
  const Written w;
  std::map<std::pair<int64_t, int64_t>, std::vector<uint64_t>> straight;
  RankingLists lists = w.Empty();
  ListStream all(&w.reader, &w.index, 1, w.options);
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    for (int64_t b = 0; b < kBatches; ++b) {
      REQUIRE(all.Read(epoch, b, kBatches, &lists).ok());
      straight[{epoch, b}] = UsersOf(lists);
    }
  }
  for (const auto& [place, users] : straight) {
    ListStream stream(&w.reader, &w.index, 1, w.options);
    REQUIRE(stream.Read(place.first, place.second, kBatches, &lists).ok());
    CHECK(UsersOf(lists) == users);
    // And back, which no training asks for.
    REQUIRE(stream.Read(0, 0, kBatches, &lists).ok());
    CHECK(UsersOf(lists) == straight[{0, 0}]);
  }
}

TEST_CASE("a file that is damaged or missing is named when it is come to") {
  for (const bool missing : {false, true}) {
    const Written w;
    const auto orders = OrderOfLists(w.index, kParts, w.options.seed, 0, w.options.chunk_bytes);
    const std::string name = w.index.files(orders[2].chunks.back().files.back()).name();
    if (missing) {
      std::filesystem::remove(w.folder / name);
    } else {
      std::fstream file(w.folder / name, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(40);
      file.put('\x7e');
    }
    ListStream stream(&w.reader, &w.index, 2, w.options);
    RankingLists lists = w.Empty();
    absl::Status status;
    for (int64_t b = 0; b < kBatches && status.ok(); ++b) status = stream.Read(0, b, kBatches, &lists);
    CHECK_THAT(std::string(status.message()), Contains(name));
    CHECK_THAT(std::string(status.message()), Contains(missing ? "is missing" : "SHA-256"));
  }
}

}  // namespace
}  // namespace waymark
