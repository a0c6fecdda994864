// The manifest of a trained retriever: its network, what it was trained on, and how well it did.
#pragma once
#include "training/retriever/retriever_corpus.h"
#include "training/retriever/retriever_trainer.h"

namespace waymark {

storage::ModelManifest RetrieverManifest(const RetrieverCorpus& corpus, const RetrieverOptions& options,
                                         const RetrieverRun& run, const RetrieverResult& result);

}  // namespace waymark
