// A ranker's training on sealed lists.
#include <map>
#include <set>

#include "tests/waymark_train/launched_lists.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

constexpr int kListFiles = 7;

TEST_CASE("Sealed lists train to the losses of plain ones, without those of users who were erased since") {
  const ListTrainFolder folder;
  std::vector<uint64_t> users;
  for (size_t i = 0; i < folder.train.size(); ++i) users.push_back(kFirstListUser + i);
  std::filesystem::create_directories(folder / "sealed");
  std::filesystem::create_directories(folder / "without");
  const ShardKeys all(BundleOf(users));
  const auto index = WriteListShards(folder / "sealed", kListFiles, folder.train, folder.validation,
                                     folder.directory, std::string(64, 'a'), {.keys = &all});
  const std::set<uint64_t> erased = {kFirstListUser, kFirstListUser + 9, kFirstListUser + 250};
  WriteListShards(folder / "without", kListFiles, folder.train, folder.validation, folder.directory,
                  std::string(64, 'a'), {.left_out = erased});
  const auto write_keys = [&](const std::string& name, const std::set<uint64_t>& gone) {
    storage::KeyBundle bundle = BundleOf(users, gone);
    bundle.set_shards_sha256(ListsFingerprint(index));
    // List i is in file i % 7, of those that are trained on and, below 100, of those that validate.
    for (const auto& [files, count] :
         {std::pair{&index.files(), folder.train.size()}, {&index.validation(), folder.validation.size()}}) {
      std::map<std::string, int64_t> in_file;
      for (uint64_t user : gone) {
        const size_t i = user - kFirstListUser;
        if (i < count) ++in_file[files->Get(static_cast<int>(i % kListFiles)).name()];
      }
      for (const auto& [file, lists] : in_file) {
        auto* told = bundle.add_files();
        told->set_name(file);
        told->set_erased(lists);
      }
    }
    REQUIRE(WriteKeyBundle(folder / name, bundle).ok());
    return folder / name;
  };
  const auto losses = [&](const std::string& name, std::vector<std::string> options) {
    options.insert(options.end(), {"--epochs", "2", "--losses", folder / (name + ".loss"), "--report",
                                   folder / (name + ".json")});
    folder.Train(name, folder.ListCommand(name + ".package", options));
    return folder.Losses(name + ".loss");
  };
  const std::string keys = write_keys("keys", {}), later = write_keys("later", erased);
  const auto plain = losses("plain", {});
  CHECK(plain == losses("sealed", {"--shards", folder / "sealed", "--keys", keys, "--processes", "2"}));
  // Items and the features' means are of all lists that were exported, in both.
  const auto without = losses("without", {"--shards", folder / "without"});
  for (const char* ranks : {"1", "2"}) {
    const std::string name = std::string("later") + ranks;
    const auto skipped = losses(name, {"--shards", folder / "sealed", "--keys", later, "--processes", ranks});
    CHECK(skipped == without);
    CHECK(folder.Report(name + ".json")["erased_users"] == 3);
  }
  CHECK(plain != without);
}

}  // namespace
}  // namespace waymark
