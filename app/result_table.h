// Answers of searches and feeds as people read them.
#pragma once
#include <string>
#include <vector>

#include "google/protobuf/repeated_field.h"
#include "waymark/v1/catalog.pb.h"
#include "waymark/v1/ranked_answer.pb.h"

namespace waymark {

// Which of an item's fields a line shows.
struct ShownFields {
  std::string title;                // empty: none
  std::vector<std::string> others;  // a few short ones
};
// The title and categories that the schema marks, then short typed fields.
ShownFields ChooseFields(const v1::Schema& schema);

// A field's value on one line: lists with commas.
std::string FieldText(const google::protobuf::Value& value);

// Rank, score, id, title, fields and sources; below each its explanation where there is one.
std::string ResultTable(const google::protobuf::RepeatedPtrField<v1::Result>& results,
                        const ShownFields& fields, int width);

// «release r1, retriever v3, ranker v7; 4.2 ms: keyword 1.1, rank 2.0».
std::string ServedByLine(const v1::ServedBy& served_by,
                         const google::protobuf::RepeatedPtrField<v1::StageTiming>& timings);
std::string DegradedLines(const google::protobuf::RepeatedPtrField<v1::Degradation>& degraded);

}  // namespace waymark
