#include "training/evaluation/letor.h"

#include <cmath>
#include <fstream>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "training/evaluation/list_ndcg.h"

namespace waymark {
namespace {

constexpr float kMaxLabel = 30;           // 2^30: beyond it gains are no longer exact
constexpr uint32_t kMaxIndex = 1u << 20;  // of a feature

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  absl::Status Rows(std::istream& in, bool by_qid) {
    std::string line;
    bool any = false;
    std::string current;
    std::set<std::string> finished;
    while (std::getline(in, line)) {
      ++line_;
      absl::string_view text = absl::StripAsciiWhitespace(absl::string_view(line).substr(0, line.find('#')));
      if (text.empty()) continue;
      std::string qid;
      if (auto status = Row(text, &qid); !status.ok()) return status;
      if (!by_qid) continue;
      if (qid.empty()) return Error("there is no qid:N after the label");
      if (any && qid != current) {
        // Rows of one query stand together, or its lists would be torn apart in silence.
        if (!finished.insert(current).second || finished.count(qid) > 0) {
          return Error(absl::StrCat("qid:", qid, " comes again after another query; sort the file by qid"));
        }
        data_.query_starts.push_back(data_.rows() - 1);
      }
      current = qid;
      any = true;
    }
    if (by_qid && any) data_.query_starts.push_back(data_.rows());
    return absl::OkStatus();
  }

  absl::Status Sizes(std::istream& in) {
    std::string line;
    uint64_t end = 0;
    size_t number = 0;
    while (std::getline(in, line)) {
      ++number;
      const absl::string_view text = absl::StripAsciiWhitespace(line);
      if (text.empty()) continue;
      uint64_t size = 0;
      if (!absl::SimpleAtoi(text, &size) || size == 0 || size > data_.rows() - end) {
        return absl::InvalidArgumentError(absl::StrCat(name_, ".query line ", number, ": '", text,
                                                       "' is not the number of rows of a query; ",
                                                       data_.rows() - end, " rows are left"));
      }
      end += size;
      data_.query_starts.push_back(end);
    }
    if (end == data_.rows()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ".query counts ", end, " rows; ", name_, " has ", data_.rows()));
  }

  LetorData Take() { return std::move(data_); }

 private:
  absl::Status Error(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, " line ", line_, ": ", what));
  }

  absl::Status Row(absl::string_view text, std::string* qid) {
    bool first = true;
    for (const absl::string_view part : absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty())) {
      if (first) {
        float label = 0;
        if (!absl::SimpleAtof(part, &label) || !(label >= 0 && label <= kMaxLabel)) {
          return Error(absl::StrCat("the label '", part, "' is not a grade from 0 to 30"));
        }
        data_.labels.push_back(label);
        first = false;
        continue;
      }
      const std::pair<absl::string_view, absl::string_view> pair =
          absl::StrSplit(part, absl::MaxSplits(':', 1));
      if (pair.first == "qid") {
        *qid = std::string(pair.second);
        continue;
      }
      uint32_t index = 0;
      float value = 0;
      if (!absl::SimpleAtoi(pair.first, &index) || !absl::SimpleAtof(pair.second, &value) ||
          !std::isfinite(value) || index > kMaxIndex) {
        return Error(absl::StrCat("'", part, "' is not index:value with an index of at most ", kMaxIndex,
                                  " and a finite value"));
      }
      data_.indices.push_back(index);
      data_.values.push_back(value);
      data_.feature_count = std::max<size_t>(data_.feature_count, index + 1);
    }
    data_.row_starts.push_back(data_.indices.size());
    return absl::OkStatus();
  }

  const std::string name_;
  size_t line_ = 0;
  LetorData data_;
};

}  // namespace

absl::StatusOr<LetorData> ReadLetor(std::istream& rows, std::istream* sizes, const std::string& name) {
  Reader reader(name);
  if (auto status = reader.Rows(rows, sizes == nullptr); !status.ok()) return status;
  if (sizes != nullptr) {
    if (auto status = reader.Sizes(*sizes); !status.ok()) return status;
  }
  LetorData data = reader.Take();
  if (data.rows() == 0) return absl::InvalidArgumentError(absl::StrCat(name, " has no rows"));
  return data;
}

absl::StatusOr<LetorData> ReadLetor(const std::filesystem::path& file) {
  std::ifstream rows(file);
  if (!rows) return absl::NotFoundError(absl::StrCat("can't read ", file.string()));
  std::ifstream sizes(file.string() + ".query");
  return ReadLetor(rows, sizes ? &sizes : nullptr, file.filename().string());
}

void LetorData::ReadRow(size_t row, absl::Span<float> out) const {
  std::fill(out.begin(), out.end(), 0.f);
  for (uint64_t i = row_starts[row]; i < row_starts[row + 1]; ++i) out[indices[i]] = values[i];
}

LetorData LetorData::Subset(absl::Span<const size_t> chosen) const {
  LetorData subset;
  subset.feature_count = feature_count;
  for (size_t q : chosen) {
    for (uint64_t row = query_starts[q]; row < query_starts[q + 1]; ++row) {
      subset.labels.push_back(labels[row]);
      subset.indices.insert(subset.indices.end(), indices.begin() + row_starts[row],
                            indices.begin() + row_starts[row + 1]);
      subset.values.insert(subset.values.end(), values.begin() + row_starts[row],
                           values.begin() + row_starts[row + 1]);
      subset.row_starts.push_back(subset.indices.size());
    }
    subset.query_starts.push_back(subset.rows());
  }
  return subset;
}

LetorReport EvaluateLetor(const LetorData& data, absl::Span<const float> scores) {
  LetorReport report;
  std::vector<float> gains;
  for (size_t q = 0; q < data.queries(); ++q) {
    const size_t first = data.query_starts[q], count = data.query_starts[q + 1] - first;
    gains.clear();
    float best = 0;
    for (size_t i = 0; i < count; ++i) {
      gains.push_back(std::exp2(data.labels[first + i]) - 1);
      best = std::max(best, gains.back());
    }
    if (best <= 0) {
      ++report.queries_without_relevant;
      continue;
    }
    ++report.queries;
    const auto own = scores.subspan(first, count);
    report.ndcg1 += ListNdcg(own, gains, 1);
    report.ndcg3 += ListNdcg(own, gains, 3);
    report.ndcg5 += ListNdcg(own, gains, 5);
    report.ndcg10 += ListNdcg(own, gains, 10);
  }
  const double n = static_cast<double>(std::max<size_t>(report.queries, 1));
  for (double* mean : {&report.ndcg1, &report.ndcg3, &report.ndcg5, &report.ndcg10}) *mean /= n;
  return report;
}

}  // namespace waymark
