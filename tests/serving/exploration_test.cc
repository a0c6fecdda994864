// Feeds that give a share of their places to items drawn at random.
#include <set>

#include "store/served_log.h"
#include "tests/serving/experiment_calls.h"

using namespace waymark;
using namespace waymark::tests;

namespace {

// Thirty items, of which a feed finds the eight most popular.
void PreparePopular(LiveServer* live) {
  Api api(*live);
  Put(&api, 30);
  storage::BlendingPlan plan;
  plan.add_sources()->set_name("popularity");
  plan.mutable_sources(0)->set_limit(8);
  plan.mutable_sources(0)->set_weight(1);
  plan.set_fusion_k(60);
  plan.set_rank_limit(100);
  PutRelease(*live, "r1", "", plan);
  v1::WriteEventsRequest write;
  for (int item = 0; item < 30; ++item) {
    for (int i = 0; i <= 30 - item; ++i) {
      *write.add_events() = EventOf("e" + std::to_string(item) + "-" + std::to_string(i),
                                    "reader" + std::to_string(i), "m" + std::to_string(item));
    }
  }
  v1::WriteEventsResponse written;
  REQUIRE(api.WriteEvents(write, &written).ok());
  REQUIRE((*live->engine->OpenCollection({}, false))->ActivateRelease("r1", "first").ok());
  REQUIRE((*live->engine->OpenCollection({}, false))->CatchUp(Deadline::Never()).ok());
}

}  // namespace

TEST_CASE("A feed explores, says with which chance, and logs it") {
  LiveServer live;
  PreparePopular(&live);
  Api api(live);
  v1::RecommendRequest plain = Of("nobody");
  plain.set_page_size(8);
  const v1::RecommendResponse ranked = Feed(&api, plain);
  REQUIRE(ranked.results_size() == 8);
  std::set<std::string> popular, drawn;
  for (const v1::Result& result : ranked.results()) {
    CHECK_FALSE(result.has_exploration());
    popular.insert(result.item().id());
  }

  std::map<std::string, std::map<std::string, v1::Result::Exploration>> served;  // request -> item
  int places = 0, drawn_places = 0;
  for (int i = 0; i < 100; ++i) {
    v1::RecommendRequest request = Of("nobody");
    request.set_exploration(.5);
    request.set_filter("year < 1979");  // all but m29
    request.set_page_size(5);
    std::set<std::string> shown;
    do {
      const v1::RecommendResponse answer = Feed(&api, request);
      for (const v1::Result& result : answer.results()) {
        REQUIRE(result.has_exploration());
        const std::string& id = result.item().id();
        CHECK(shown.insert(id).second);
        // 22 to 29 items are left to draw from.
        const double propensity = result.exploration().propensity();
        CHECK((propensity > .5 || (propensity >= .5 / 29 - 1e-6 && propensity <= .5 / 22 + 1e-6)));
        ++places;
        if (result.exploration().drawn()) {
          ++drawn_places;
          if (!popular.contains(id)) drawn.insert(id);
        } else {
          CHECK(popular.contains(id));
        }
        served[answer.request_id()][id] = result.exploration();
      }
      request.set_page_token(answer.next_page_token());
    } while (!request.page_token().empty());
    CHECK(shown.size() == 8);
    CHECK_FALSE(shown.contains("m29"));  // the filter's
  }
  CHECK(places == 800);
  CHECK(std::abs(drawn_places - 400) < 5 * std::sqrt(800 * .25));
  CHECK(drawn.size() == 21);  // any may be, but what the filter leaves out

  live.Restart();
  ServedLogOptions options;
  options.read_only = true;
  const auto log = ServedLog::Open(live.folder.path / "data", options);
  REQUIRE(log.ok());
  const auto scope = (*live.engine->OpenCollection({}, false))->scope();
  int logged = 0;
  REQUIRE((*log)
              ->ForEach(scope, std::nullopt,
                        [&](const storage::ServeRecord& record) {
                          const auto request = served.find(record.request_id());
                          if (request == served.end()) return true;
                          for (const storage::ServedItem& item : record.shown()) {
                            const auto& said =
                                request->second.at(live.engine->store().ItemId(scope, item.item()));
                            CHECK(item.exploration().propensity() == Approx(said.propensity()));
                            CHECK(item.exploration().drawn() == said.drawn());
                            ++logged;
                          }
                          return true;
                        })
              .ok());
  CHECK(logged == 800);
}

TEST_CASE("What has been seen is not drawn, and a share that makes no sense is refused by name") {
  LiveServer live;
  PreparePopular(&live);
  Api api(live);
  v1::RecommendRequest request = Of("reader0");  // has seen everything
  request.set_exploration(1);
  CHECK(Feed(&api, request).results_size() == 0);
  request = Of("reader9");  // has seen m0 to m21
  request.set_exploration(1);
  const v1::RecommendResponse unseen = Feed(&api, request);
  CHECK(unseen.results_size() == 8);
  for (const v1::Result& result : unseen.results()) {
    CHECK(std::stoi(result.item().id().substr(1)) > 21);
  }
  v1::RecommendResponse answer;
  for (const double wrong : {-.1, 1.5, std::nan("")}) {
    request.set_exploration(wrong);
    CHECK(FieldOf(api.Recommend(request, &answer)) == "exploration");
  }
  request.set_exploration(.1);
  request.mutable_group_by()->set_field("category");
  CHECK(FieldOf(api.Recommend(request, &answer)) == "exploration");
}
