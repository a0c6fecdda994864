// The 36,273 films of wikipedia-movies, in the order of their files.
#pragma once
#include <functional>

#include "google/protobuf/struct.pb.h"

namespace waymark::tests {

void ForEachWikipediaMovie(const std::function<void(const google::protobuf::Struct& fields)>& visit);

}  // namespace waymark::tests
