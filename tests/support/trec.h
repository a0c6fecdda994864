// Test collections of information retrieval, read from their original files as the benchmark's data script
// does: documents with title and text, queries as lower-case words, binary judgements.
//
//   if (!HaveData("cranfield")) return;
//   TestCollection cranfield = ReadCranfield();
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "training/evaluation/search_metrics.h"

namespace waymark::tests {

struct TestDocument {
  std::string id, title, text;
};
struct TestCollection {
  std::vector<TestDocument> documents;
  std::vector<std::pair<std::string, std::string>> queries;  // id, text
  Judgements judgements;
};

// Queries are numbered by their place in the file, as the judgements do; every listed pair is relevant.
TestCollection ReadCranfield();
TestCollection ReadMed();

// Runs of letters and digits, lower-case, with a space between. The files hold ASCII only where it matters.
std::string PlainWords(const std::string& text);

}  // namespace waymark::tests
