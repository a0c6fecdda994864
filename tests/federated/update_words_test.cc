// What a site sends, and what comes out of the sum and becomes of the model.
#include "training/federated/rounds/update_words.h"

#include "tests/support/catch.h"
#include "training/federated/model/exchanged_model.h"
#include "training/federated/model/federated_defaults.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;

LocalUpdate Moved(int64_t events, std::vector<float> moved) {
  LocalUpdate update;
  update.events = events;
  update.moved = std::move(moved);
  update.loss = 3;
  update.users = 5;
  update.ndcg10 = .125;
  return update;
}

TEST_CASE("The mean of sites with few events is as exact as that of sites with many") {
  const federated::Plan plan = DefaultPlan();
  for (int64_t events : {1, 90, 100000}) {
    // One site moves +.001, another with three times the events -.0002: the mean is (.001 - 3 * .0002) / 4.
    LocalUpdate one = Moved(events, {.001f, 1e-6f}), other = Moved(3 * events, {-.0002f, 1e-6f});
    auto words = EncodeUpdate(plan, &one);
    const auto more = EncodeUpdate(plan, &other);
    REQUIRE(words.ok());
    REQUIRE(more.ok());
    for (size_t i = 0; i < words->size(); ++i) (*words)[i] += (*more)[i];
    const auto sum = DecodeSum(plan, *words, 2);
    REQUIRE(sum.ok());
    INFO(events << " events");
    CHECK(sum->weighted[0] / sum->weight == Approx(.0001).epsilon(1e-4));
    CHECK(sum->weighted[1] / sum->weight == Approx(1e-6).epsilon(2e-3));
    CHECK(sum->events == 4 * events);
    CHECK(sum->loss.value() == Approx(3).epsilon(1e-5));
    CHECK(sum->ndcg10.value() == Approx(.125).epsilon(1e-5));
  }
}

TEST_CASE("Rows of items move by the table's factor, everything else by the server's rate") {
  federated::Plan plan = DefaultPlan();
  plan.set_server_rate(2);
  plan.set_table_factor(3);
  const auto layout = ExchangedLayout::Of(plan);
  REQUIRE(layout.ok());
  std::vector<float> model(layout->total(), 1), mean(layout->total(), .5f);
  ServerMoments moments;
  MoveModel(plan, *layout, absl::MakeSpan(mean), &moments, absl::MakeSpan(model));
  CHECK(model[0] == 2);
  CHECK(model[layout->dense - 1] == 2);
  CHECK(model[layout->dense] == 4);
  CHECK(model[layout->dense + layout->ids - 1] == 4);
  CHECK(model[layout->dense + layout->ids] == 2);
  CHECK(model.back() == 2);

  plan.set_rule(federated::Plan::FEDADAM);
  CHECK_THAT(std::string(ExchangedLayout::Of(plan).status().message()),
             Contains("table_factor is 3") && Contains("fedadam"));
  plan.set_table_factor(0);
  CHECK_THAT(std::string(ExchangedLayout::Of(plan).status().message()), Contains("table_factor is 0"));
}

}  // namespace
}  // namespace waymark
