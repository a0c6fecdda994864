// Whether what is derived agrees with the store: a check in two parts.
//
//   CheckFiles(data, collection)    the files alone, each against its checksum; opens nothing for writing, so
//   it
//                                   also serves a folder that no engine has open, before one opens it (and
//                                   puts right what it finds damaged)
//   Collection::Check(options)      the same files, and what an open collection holds against every item
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "candidates/deadline.h"
#include "store/ids.h"
#include "store/part_check.h"

namespace waymark {

struct CollectionCheck {
  CollectionName name;  // both empty: the store, which all collections share
  std::vector<PartCheck> parts;
  bool clean() const;
};

struct DataCheckOptions {
  bool repair = false;  // set aside what differs and make it anew from the store
};

// One entry a part that has files: catalog, index, vectors, behaviour, suggest.
std::vector<PartCheck> CheckFiles(const std::filesystem::path& data, Scope scope);

// A finding beyond those that are kept is counted only.
int64_t FindingsOf(const std::vector<CollectionCheck>& checks);

}  // namespace waymark
