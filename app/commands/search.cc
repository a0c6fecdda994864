#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/facet_option.h"
#include "app/list_answer.h"
#include "app/request_options.h"
#include "app/target.h"

namespace waymark {
namespace search_command {
namespace {

struct Options {
  Target target;
  RequestOptions request;
  std::string query;
  bool match_all = false;
  std::string typos = "auto";
  std::vector<std::string> facets;
  std::string order_by, minimum_match;
  int relax_below = 0;
  std::optional<int64_t> exact_total;
  std::string vector, fusion = "ranks";
  double vector_weight = 0.5;
  int nearest = 0;
};

// FIELD=0.1,0.2,... or FIELD=@FILE with the numbers, apart by commas or spaces, or a JSON array.
absl::Status ReadVector(const Options& options, v1::VectorQuery* query) {
  const size_t equals = options.vector.find('=');
  const std::string name = options.vector.substr(0, equals);
  std::string text = equals == std::string::npos ? "" : options.vector.substr(equals + 1);
  if (absl::StartsWith(text, "@")) {
    std::ifstream in(text.substr(1));
    if (!in) return absl::InvalidArgumentError(absl::StrCat("--vector: cannot read '", text.substr(1), "'"));
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  query->set_field(name);
  for (const auto part : absl::StrSplit(text, absl::ByAnyChar(", \t\r\n[]"), absl::SkipEmpty())) {
    float number = 0;
    if (!absl::SimpleAtof(part, &number)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--vector: '", part, "' is no number; it takes FIELD=0.1,0.2,... or FIELD=@FILE"));
    }
    query->add_values(number);
  }
  query->set_limit(options.nearest);
  query->set_weight(options.vector_weight);
  query->set_fusion(options.fusion == "scores" ? v1::VectorQuery::SCORES : v1::VectorQuery::RANKS);
  return absl::OkStatus();
}

int RunSearch(const Options& options) {
  v1::SearchRequest request;
  if (auto status = FillRequest(options.request, Parent(options.target), &request); !status.ok()) {
    return FailUsage(std::string(status.message()));
  }
  request.set_query(options.query);
  request.set_match(options.match_all ? v1::SearchRequest::ALL : v1::SearchRequest::ANY);
  if (options.typos == "off") request.set_typo_tolerance(v1::SearchRequest::OFF);
  if (options.typos == "always") request.set_typo_tolerance(v1::SearchRequest::ALWAYS);
  for (const std::string& text : options.facets) {
    auto facet = ReadFacetOption(text);
    if (!facet.ok()) return FailUsage(std::string(facet.status().message()));
    *request.add_facets() = *std::move(facet);
  }
  request.set_order_by(options.order_by);
  request.set_minimum_match(options.minimum_match);
  request.set_relax_below(options.relax_below);
  if (options.exact_total) request.set_exact_total_limit(*options.exact_total);
  if (!options.vector.empty()) {
    auto status = ReadVector(options, request.mutable_vector());
    if (!status.ok()) return FailUsage(std::string(status.message()));
  }
  auto backend = OpenTarget(options.target, Access::kRead);
  if (!backend.ok()) return Fail(backend.status());
  v1::SearchResponse response;
  auto status = (*backend)->Call("waymark.v1.SearchService.Search", request, &response);
  if (!status.ok()) return Fail(status);
  return PrintAnswer(response, request.parent(), options.target.json, backend->get());
}

}  // namespace
}  // namespace search_command

void AddSearch(CLI::App* app, Run* run) {
  using namespace search_command;
  CLI::App* command =
      AddCommand(app, "search", "Find items by words",
                 "  waymark search 'star wars' --data DIR --filter 'year < 1990' --limit 5\n"
                 "  waymark search comedy --data DIR --user 196 --explain\n"
                 "  waymark search love --data DIR --facet genres --facet year:..1980,1980..2000");
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target);
  command
      ->add_option("query", options->query,
                   "words, \"phrases\", AND, OR, + and -, typo~, begin*; without it all items")
      ->type_name("QUERY");
  command->add_flag("--all-words", options->match_all, "every word must be there");
  command
      ->add_option("--minimum-match", options->minimum_match,
                   "how many of the words must be there: 2, 75%, or how many may be missing: -1, -25%")
      ->type_name("WORDS");
  command
      ->add_option("--relax-below", options->relax_below,
                   "with fewer results, words need not be there, those that tell least first")
      ->type_name("RESULTS");
  command
      ->add_option(
          "--exact-total", options->exact_total,
          "count matches exactly up to so many (10000); of more it is said how many there are at least")
      ->type_name("N");
  command
      ->add_option(
          "--typo-tolerance", options->typos,
          "which words also find what is written almost the same: auto (those that no item has), off, "
          "always")
      ->check(CLI::IsMember({"auto", "off", "always"}));
  command
      ->add_option("--facet", options->facets,
                   "count the matches by a field: genres, genres:20, genres:find=sci, genres:disjunctive, "
                   "year:0..1980,1980..2000 (ends not in them), year:step=10, released:per=month, "
                   "shelf:levels=2, shelf:under=Books, price:statistics; may be given again")
      ->type_name("FIELD[:...]")
      ->allow_extra_args(false);
  command
      ->add_option("--order-by", options->order_by,
                   "sort all matches by fields, as 'year desc, price', or by distance, "
                   "'geo_distance(location, 52.5, 13.4)'")
      ->type_name("FIELD [desc],...");
  CLI::Option* vector =
      command
          ->add_option(
              "--vector", options->vector,
              "items near to this vector, alone or beside the words: numbers with commas, or a file of them")
          ->type_name("FIELD=NUMBERS|@FILE");
  command->add_option("--nearest", options->nearest, "how many of the nearest take part (100)")
      ->needs(vector)
      ->type_name("N");
  command
      ->add_option("--fusion", options->fusion, "how words and vector become one list: by ranks or by scores")
      ->needs(vector)
      ->capture_default_str()
      ->check(CLI::IsMember({"ranks", "scores"}));
  command
      ->add_option("--vector-weight", options->vector_weight,
                   "of the vector, 0 to 1; the words have the rest")
      ->needs(vector)
      ->capture_default_str()
      ->type_name("W");
  AddRequestOptions(command, &options->request);
  command->callback([=] { *run = [options] { return RunSearch(*options); }; });
}

}  // namespace waymark
