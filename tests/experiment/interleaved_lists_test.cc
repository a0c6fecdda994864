#include "experiment/interleaving/interleaved_lists.h"

#include "tests/support/catch.h"

namespace waymark {
namespace {

constexpr int64_t kHourUs = int64_t{3600} * 1000 * 1000;
constexpr EventTypeCode kTap = 7;

// A list of items 1, 2, 3 of teams A, B, A, shown at hour 10.
storage::ExposureRecord ListFor(const std::string& reader, const std::string& request,
                                UserNumber number = 0) {
  storage::ExposureRecord list;
  list.set_unit("r:" + request);
  list.set_reader(reader);
  list.set_number(number);
  list.set_time_us(10 * kHourUs);
  const Team teams[] = {Team::kA, Team::kB, Team::kA};
  for (int i = 0; i < 3; ++i) {
    list.add_items(static_cast<uint32_t>(i + 1));
    list.mutable_teams()->push_back(static_cast<char>(teams[i]));
  }
  return list;
}

storage::EventRecord Tap(const std::string& request, ItemOrdinal item, int64_t time_us = 11 * kHourUs) {
  storage::EventRecord event;
  event.set_type(kTap);
  event.set_request_id(request);
  event.set_time_us(time_us);
  event.add_items()->set_item(item);
  return event;
}

InterleavedLists SmallLists() { return InterleavedLists(EventSource{.type = kTap}, 24 * kHourUs, 2); }

TEST_CASE("Clicks go to the team that brought the item, once each, and readers count once") {
  InterleavedLists lists = SmallLists();
  lists.Add(ListFor("u:ann", "q1"));
  lists.Add(ListFor("u:ann", "q2"));
  lists.Add(ListFor("u:bob", "q3"));
  lists.Add(ListFor("", "q4"));
  lists.Add(ListFor("", "q4"));  // the same request again
  CHECK(lists.lists() == 4);
  CHECK(lists.readers() == 3);
  lists.Observe(Tap("q1", 1));
  lists.Observe(Tap("q1", 1));  // counts once
  lists.Observe(Tap("q2", 2));
  lists.Observe(Tap("q2", 3));  // ann: 2 for A, 1 for B
  lists.Observe(Tap("q3", 2));  // bob: 1 for B
  lists.Observe(Tap("q4", 9));  // not of the list
  lists.Observe(Tap("q5", 1));  // not a request of this experiment
  const PreferenceResult result = lists.Analyse(1, {});
  CHECK(result.lists == 3);  // readers
  CHECK(result.a_wins == 1);
  CHECK(result.b_wins == 1);
  CHECK(result.ties == 1);
}

TEST_CASE("Events of another type, before the list or after its window give no credit") {
  InterleavedLists lists = SmallLists();
  lists.Add(ListFor("u:ann", "q1"));
  lists.Observe(Tap("q1", 1, 9 * kHourUs));
  lists.Observe(Tap("q1", 1, 34 * kHourUs));
  storage::EventRecord other = Tap("q1", 1);
  other.set_type(kTap + 1);
  lists.Observe(other);
  CHECK(lists.Analyse(1, {}).a_wins == 0);
  lists.Observe(Tap("q1", 1, 34 * kHourUs - 1));
  CHECK(lists.Analyse(1, {}).a_wins == 1);
}

TEST_CASE("Lists whose window is over are forgotten, what they were credited with stays") {
  InterleavedLists lists = SmallLists();
  lists.Add(ListFor("u:ann", "q1"));
  lists.Observe(Tap("q1", 2));
  lists.Prune((10 + 24 + 24 + 1) * kHourUs);
  lists.Observe(Tap("q1", 1));
  const PreferenceResult result = lists.Analyse(1, {});
  CHECK(result.a_wins == 0);
  CHECK(result.b_wins == 1);
  CHECK(lists.CountSince(10 * kHourUs) == 1);
  CHECK(lists.CountSince(10 * kHourUs + 1) == 0);
}

TEST_CASE("An erased reader counts no longer") {
  InterleavedLists lists = SmallLists();
  lists.Add(ListFor("u:ann", "q1", 4));
  lists.Add(ListFor("u:bob", "q2", 5));
  lists.Observe(Tap("q1", 2));
  lists.Observe(Tap("q2", 2));
  lists.Erase(4);
  lists.Observe(Tap("q1", 1));
  const PreferenceResult result = lists.Analyse(1, {});
  CHECK(result.lists == 1);
  CHECK(result.b_wins == 1);
  CHECK(result.a_wins == 0);
}

TEST_CASE("Of three arms each treatment is held against the control") {
  InterleavedLists lists(EventSource{.type = kTap}, 24 * kHourUs, 3);
  for (const char* request : {"q1", "q2", "q3"}) {
    storage::ExposureRecord list = ListFor(std::string("u:") + request, request);
    list.mutable_teams()->at(2) = static_cast<char>(TeamOf(2));  // items 1, 2, 3 of A, B, C
    lists.Add(list);
  }
  lists.Observe(Tap("q1", 3));
  lists.Observe(Tap("q2", 3));
  lists.Observe(Tap("q2", 1));  // as many for A as for C, none for B
  lists.Observe(Tap("q3", 1));
  const PreferenceResult second = lists.Analyse(1, {}), third = lists.Analyse(2, {});
  CHECK(second.a_wins == 2);
  CHECK(second.b_wins == 0);
  CHECK(second.ties == 1);
  CHECK(third.a_wins == 1);
  CHECK(third.b_wins == 1);
  CHECK(third.ties == 1);
}

}  // namespace
}  // namespace waymark
