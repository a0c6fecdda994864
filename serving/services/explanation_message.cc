#include "serving/services/explanation_message.h"

namespace waymark {
namespace {

v1::KeywordExplanation::Term::Kind KindOf(TermExplanation::Kind kind) {
  switch (kind) {
    case TermExplanation::Kind::kWord:
      return v1::KeywordExplanation::Term::WORD;
    case TermExplanation::Kind::kVariant:
      return v1::KeywordExplanation::Term::VARIANT;
    case TermExplanation::Kind::kSynonym:
      return v1::KeywordExplanation::Term::SYNONYM;
    case TermExplanation::Kind::kPhrase:
      return v1::KeywordExplanation::Term::PHRASE;
  }
  return v1::KeywordExplanation::Term::KIND_UNSPECIFIED;
}

}  // namespace

void ToMessage(const ScoreExplanation& explanation, v1::KeywordExplanation* message) {
  message->set_score(explanation.score);
  message->set_documents(explanation.documents);
  message->set_length(explanation.length);
  message->set_average_length(explanation.average_length);
  message->set_k1(explanation.k1);
  message->set_b(explanation.b);
  message->set_length_norm(explanation.length_norm);
  for (const TermExplanation& from : explanation.terms) {
    v1::KeywordExplanation::Term* term = message->add_terms();
    term->set_kind(KindOf(from.kind));
    term->set_term(from.term);
    term->set_typed(from.typed);
    term->set_documents_with(from.documents_with);
    term->set_idf(from.idf);
    term->set_times(from.times);
    term->set_tf(from.tf);
    for (const TermExplanation::FieldFrequency& held : from.fields) {
      v1::KeywordExplanation::Field* field = term->add_fields();
      field->set_field(held.field);
      field->set_weight(held.weight);
      field->set_frequency(held.frequency);
    }
    term->set_contribution(from.contribution);
    term->set_left_out(from.left_out);
  }
}

}  // namespace waymark
