#include "tests/support/trec.h"

#include <cctype>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "tests/support/skip.h"

namespace waymark::tests {
namespace {

// SMART format: ".I id", then sections .T, .A, .B, .W of lines.
std::vector<std::map<char, std::string>> ReadSmart(const std::filesystem::path& path) {
  std::vector<std::map<char, std::string>> records;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path.string());
  char section = 0;
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.starts_with(".I")) {
      std::istringstream words(line.substr(2));
      words >> records.emplace_back()['I'];
      section = 0;
    } else if (line.size() >= 2 && line[0] == '.' && std::isupper(static_cast<unsigned char>(line[1])) &&
               line.find_first_not_of(" \t", 2) == std::string::npos) {
      section = line[1];
    } else if (!records.empty() && section != 0) {
      records.back()[section] += line + "\n";
    }
  }
  return records;
}

std::string OneLine(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

// Column `document` of the lines is a relevant document of the query in column 0.
Judgements ReadPairs(const std::filesystem::path& path, size_t document) {
  Judgements judgements;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path.string());
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::vector<std::string> columns;
    for (std::string word; words >> word;) columns.push_back(word);
    if (columns.size() > document) judgements[columns[0]][columns[document]] = 1;
  }
  return judgements;
}

}  // namespace

std::string PlainWords(const std::string& text) {
  std::string words;
  bool inside = false;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      if (!inside && !words.empty()) words += ' ';
      words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      inside = true;
    } else {
      inside = false;
    }
  }
  return words;
}

TestCollection ReadCranfield() {
  const std::filesystem::path folder = SharedData() / "cranfield";
  TestCollection collection;
  for (auto& record : ReadSmart(folder / "cran.all.1400")) {
    collection.documents.push_back({record['I'], OneLine(record['T']), OneLine(record['W'])});
  }
  for (auto& record : ReadSmart(folder / "cran.qry")) {
    collection.queries.emplace_back(std::to_string(collection.queries.size() + 1), PlainWords(record['W']));
  }
  collection.judgements = ReadPairs(folder / "cranqrel", 1);
  return collection;
}

TestCollection ReadMed() {
  const std::filesystem::path folder = SharedData() / "med";
  TestCollection collection;
  for (auto& record : ReadSmart(folder / "MED.ALL")) {
    collection.documents.push_back({record['I'], "", OneLine(record['W'])});
  }
  for (auto& record : ReadSmart(folder / "MED.QRY")) {
    collection.queries.emplace_back(record['I'], PlainWords(record['W']));
  }
  collection.judgements = ReadPairs(folder / "MED.REL", 2);
  return collection;
}

}  // namespace waymark::tests
