// Keyword search beside its peers: the same options and the same lines of JSON as theirs
// (../shared/bench/peers; bench/keyword.sh runs all of them).
//
//   keyword index --input corpus.jsonl --index DIR [--stem]
//   keyword load --input corpus.jsonl --index DIR --threads 2 [--stem]
//   keyword search --index DIR --queries q.tsv --k 10 [--reps 5] [--warmup 2] [--clock cpu|wall]
//       [--count-up-to N] [--run FILE] [--stem]
//
// One field (title + " " + text) with positions, k1 1.2, b .75, one segment, one thread. `index` is a bulk
// load as a thread of one does it; its seconds are those until all is written to Lucene's form and compiled,
// its merge_seconds those until that is sealed, and the compiled form in a file. A query is timed
// from its text to a list of (item, score). --count-up-to: count matches exactly up to so many. `load` is a
// bulk load until all is written and compiled, by so many threads, without merging.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "index/bulk_indexer.h"
#include "index/compiled_file.h"
#include "index/index_folder.h"
#include "index/lucene_segments.h"
#include "index/snapshot_search.h"

namespace waymark {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Options {
  std::string input, index, queries, run, clock = "cpu";
  size_t k = 10, reps = 5, warmup = 2, threads = 1;
  int64_t count_up_to = kCountNone;
  bool stem = false;
};

double Seconds(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::cerr << value.status() << "\n";
    std::exit(1);
  }
  return *std::move(value);
}
void OrDie(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << "\n";
  std::exit(1);
}

AnalysisSettings Analysis(const Options& options) {
  return {options.stem ? StemmerKind::kPorter : StemmerKind::kNone, false};
}

IndexedFields OneField() {
  IndexedFields fields;
  fields.fields.push_back({"text", 1, false});
  fields.known.push_back("text");
  return fields;
}

double Megabytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::round(std::stod(line.substr(key.size())) / 102.4) / 10;
  }
  return 0;
}

// As a bulk load does it, on this thread: inverted, one segment, compiled, and durable.
void Index(const Options& options) {
  fs::remove_all(options.index);
  const double wall = Seconds(CLOCK_MONOTONIC), cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  auto lucene = OrDie(LuceneSegments::Create(options.index));
  const fs::path part_folder = PartFolder(options.index, 0);
  fs::create_directories(part_folder);
  BulkPart part(part_folder, OrDie(lucene->BeginParts()));
  const Analyzer analyzer(Analysis(options));
  std::vector<FieldTerms> fields(1);
  fields[0].field = "text";
  std::ifstream input(options.input);
  std::ofstream ids(options.index + "/ids.txt");
  ItemOrdinal documents = 0;
  for (std::string line; std::getline(input, line); ++documents) {
    const Json document = Json::parse(line);
    fields[0].terms.Clear();
    const uint32_t end =
        analyzer.Analyze(document["title"].get_ref<const std::string&>(), 0, &fields[0].terms);
    analyzer.Analyze(document["text"].get_ref<const std::string&>(), end, &fields[0].terms);
    OrDie(part.Put(documents, absl::MakeConstSpan(fields).subspan(0, fields[0].terms.empty() ? 0 : 1)));
    ids << document["id"].get_ref<const std::string&>() << "\n";
  }
  const double inverted_cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  std::vector<BulkSegment> made = OrDie(part.Finish());
  OrDie(lucene->Adopt(made));
  fs::remove_all(part_folder);
  const LuceneCommit commit = OrDie(lucene->Commit({}));
  const double written = Seconds(CLOCK_MONOTONIC), written_cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  std::vector<LiveSegment> segments;
  for (BulkSegment& segment : made) segments.push_back({std::move(segment.compiled), nullptr});
  segments = OrDie(lucene->Refresh(segments));
  IndexManifest manifest{commit.segments_file,
                         1,
                         documents,
                         AnalysisName(Analysis(options)),
                         OneField(),
                         OrDie(SealFiles(options.index, commit.files, {}))};
  OrDie(WriteManifest(options.index, manifest));
  OrDie(KeepCompiled(options.index, manifest, segments));
  const double kept = Seconds(CLOCK_MONOTONIC), kept_cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  uint64_t durable_bytes = 0, compiled_bytes = 0;
  for (const IndexedFile& file : manifest.files) durable_bytes += file.size;
  Json sections;
  for (const LiveSegment& segment : segments) {
    compiled_bytes += segment.postings->memory_bytes();
    sections = {{"documents_and_frequencies", segment.postings->doc_bytes().size()},
                {"positions", segment.postings->position_bytes().size()},
                {"blocks", segment.postings->block_count()},
                {"terms", segment.postings->term_count()}};
  }
  const double n = documents;
  std::cout << Json{{"peer", "waymark"},
                    {"version", "this tree"},
                    {"phase", "index"},
                    {"stem", options.stem},
                    {"docs", documents},
                    {"segments", segments.size()},
                    {"seconds", written - wall},
                    {"merge_seconds", kept - written},
                    {"cpu_seconds", written_cpu - cpu},
                    {"inversion_cpu_seconds", inverted_cpu - cpu},
                    {"merge_cpu_seconds", kept_cpu - written_cpu},
                    {"docs_per_s", std::round(n / (written - wall))},
                    {"docs_per_cpu_s", std::round(n / (written_cpu - cpu))},
                    {"docs_per_cpu_s_with_merge", std::round(n / (kept_cpu - cpu))},
                    {"index_bytes", durable_bytes + compiled_bytes},
                    {"durable_bytes", durable_bytes},
                    {"compiled_bytes", compiled_bytes},
                    {"compiled_sections", sections},
                    {"rss_peak_mb", Megabytes("VmHWM:")}}
                   .dump()
            << std::endl;
}

std::vector<storage::ItemRecord> ReadItems(const Options& options) {
  std::vector<storage::ItemRecord> items;
  std::ifstream input(options.input);
  for (std::string line; std::getline(input, line);) {
    const Json document = Json::parse(line);
    const std::string title = document["title"], text = document["text"];
    (*items.emplace_back().mutable_fields()->mutable_fields())["text"].set_string_value(title + " " + text);
  }
  return items;
}

void Load(const Options& options) {
  fs::remove_all(options.index);
  std::vector<storage::ItemRecord> items = ReadItems(options);
  const auto analysis = std::make_shared<const ItemAnalysis>(
      ItemAnalysis{OneField(), FieldAnalyzers(Analysis(options), OneField())});
  const double wall = Seconds(CLOCK_MONOTONIC), cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  auto lucene = OrDie(LuceneSegments::Create(options.index));
  std::vector<LiveSegment> segments;
  std::vector<fs::path> folders;
  for (size_t i = 0; i < options.threads; ++i) folders.push_back(PartFolder(options.index, i));
  auto bulk = OrDie(BulkIndexer::Start(folders, OrDie(lucene->BeginParts())));
  for (size_t i = 0; i < items.size(); ++i) {
    OrDie(bulk->Put(static_cast<ItemOrdinal>(i), std::move(items[i]), analysis));
  }
  std::vector<BulkSegment> made = OrDie(bulk->Finish());
  OrDie(lucene->Adopt(made));
  for (BulkSegment& segment : made) segments.push_back({std::move(segment.compiled), nullptr});
  segments = OrDie(lucene->Refresh(segments));
  (void)OrDie(lucene->Commit({}));
  const double seconds = Seconds(CLOCK_MONOTONIC) - wall;
  std::cout << Json{{"peer", "waymark"},
                    {"phase", "load"},
                    {"threads", options.threads},
                    {"docs", items.size()},
                    {"segments", segments.size()},
                    {"seconds", seconds},
                    {"cpu_seconds", Seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu},
                    {"docs_per_s", std::round(static_cast<double>(items.size()) / seconds)}}
                   .dump()
            << std::endl;
}

struct Query {
  std::string id, kind, text;
};

std::vector<Query> ReadQueries(const std::string& path) {
  std::vector<Query> queries;
  std::ifstream input(path);
  for (std::string line; std::getline(input, line);) {
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    Query query{line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)};
    if (query.kind.starts_with("phrase")) query.text = absl::StrCat("\"", query.text, "\"");
    queries.push_back(std::move(query));
  }
  return queries;
}

double Percentile(const std::vector<double>& sorted, double percent) {
  const double place = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(place);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  const double share = place - static_cast<double>(low);
  return std::round((sorted[low] * (1 - share) + sorted[high] * share) * 10) / 10;
}

Json Statistics(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  double sum = 0;
  for (double time : times) sum += time;
  const auto n = static_cast<double>(times.size());
  return {{"n", times.size()},
          {"p50_us", Percentile(times, 50)},
          {"p95_us", Percentile(times, 95)},
          {"p99_us", Percentile(times, 99)},
          {"mean_us", std::round(sum / n * 10) / 10},
          {"qps", std::round(n / sum * 1e7) / 10}};
}

void WriteRun(const Options& options, const std::vector<Query>& queries,
              const std::vector<std::vector<ScoredItem>>& answers) {
  std::vector<std::string> ids;
  std::ifstream input(options.index + "/ids.txt");
  for (std::string line; std::getline(input, line);) ids.push_back(line);
  std::ofstream output(options.run);
  for (size_t i = 0; i < queries.size(); ++i) {
    for (const ScoredItem& hit : answers[i])
      output << queries[i].id << " " << ids[hit.item] << " " << hit.score << "\n";
  }
}

void Search(const Options& options) {
  const double start = Seconds(CLOCK_MONOTONIC);
  const IndexManifest manifest = OrDie(ReadManifest(options.index));
  auto lucene = OrDie(LuceneSegments::Open(options.index, manifest.segments_file));
  std::string damage;  // is logged
  const auto segments = OrDie(lucene->Refresh(LoadCompiled(options.index, manifest, &damage)));
  const Bm25Options bm25;
  const auto snapshot =
      MakeSnapshot(Analysis(options), OneField(), segments, bm25, manifest.position, nullptr);
  const double opened = Seconds(CLOCK_MONOTONIC);

  const std::vector<Query> queries = ReadQueries(options.queries);
  const clockid_t clock = options.clock == "cpu" ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  std::vector<std::vector<double>> times(queries.size());
  std::vector<std::vector<ScoredItem>> answers(queries.size());
  size_t hits = 0;
  for (size_t round = 0; round < options.warmup + options.reps; ++round) {
    hits = 0;
    for (size_t i = 0; i < queries.size(); ++i) {
      SnapshotQuery query{queries[i].text};
      query.count_up_to = options.count_up_to;
      const double before = Seconds(clock);
      KeywordHits answer = SearchSnapshot(*snapshot, query, bm25, options.k, Deadline::Never());
      const double after = Seconds(clock);
      hits += answer.items.size();
      if (round >= options.warmup) times[i].push_back((after - before) * 1e6);
      if (!options.run.empty()) answers[i] = std::move(answer.items);
    }
  }
  std::map<std::string, std::vector<double>> by_class;
  for (size_t i = 0; i < queries.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    const double median = times[i][options.reps / 2];
    by_class[queries[i].kind].push_back(median);
    by_class["all"].push_back(median);
    if (queries[i].kind.starts_with("or")) by_class["or_all"].push_back(median);
  }
  Json classes;
  for (auto& [kind, medians] : by_class) classes[kind] = Statistics(std::move(medians));
  std::cout << Json{{"peer", "waymark"},
                    {"version", "this tree"},
                    {"phase", "search"},
                    {"clock", options.clock},
                    {"k", options.k},
                    {"docs", snapshot->documents},
                    {"segments", snapshot->segments.size()},
                    {"open_seconds", opened - start},
                    {"hits", hits},
                    {"count_up_to", options.count_up_to},
                    {"rss_mb", Megabytes("VmRSS:")},
                    {"rss_anon_mb", Megabytes("RssAnon:")},
                    {"rss_file_mb", Megabytes("RssFile:")},
                    {"classes", classes}}
                   .dump()
            << std::endl;
  if (!options.run.empty()) WriteRun(options, queries, answers);
}

int Main(int argc, char** argv) {
  CLI::App app("Keyword search beside its peers");
  Options options;
  app.require_subcommand(1);
  CLI::App* index = app.add_subcommand("index", "Makes an index of a corpus");
  index->add_option("--input", options.input, "One {\"id\", \"title\", \"text\"} a line")->required();
  CLI::App* load = app.add_subcommand("load", "Times a bulk load");
  load->add_option("--input", options.input, "As of index")->required();
  load->add_option("--threads", options.threads, "Threads of it")->check(CLI::Range(1, 64));
  CLI::App* search = app.add_subcommand("search", "Times queries");
  search->add_option("--queries", options.queries, "Lines of id, class and words, separated by tabs")
      ->required();
  search->add_option("--k", options.k, "Items that a query gets");
  search->add_option("--reps", options.reps, "Times that each query is timed")->check(CLI::PositiveNumber);
  search->add_option("--warmup", options.warmup, "Rounds before");
  search->add_option("--clock", options.clock, "cpu or wall");
  search->add_option("--run", options.run, "Writes the hits here");
  search->add_option("--count-up-to", options.count_up_to, "Matches that are counted exactly");
  for (CLI::App* command : {index, load, search}) {
    command->add_option("--index", options.index, "Folder of the index")->required();
    command->add_flag("--stem", options.stem, "Porter's stemmer");
  }
  CLI11_PARSE(app, argc, argv);
  if (index->parsed()) {
    Index(options);
  } else if (load->parsed()) {
    Load(options);
  } else {
    Search(options);
  }
  return 0;
}

}  // namespace
}  // namespace waymark

int main(int argc, char** argv) { return waymark::Main(argc, argv); }
