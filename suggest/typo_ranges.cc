#include "suggest/typo_ranges.h"

#include <algorithm>
#include <optional>

#include "index/letters.h"
#include "index/typo_automaton.h"

namespace waymark {
namespace {

class Walk {
 public:
  Walk(const CompletionList& list, const TypoAutomaton& automaton, size_t max_looks)
      : list_(list), automaton_(automaton), looks_left_(max_looks) {}

  // `first`: the letter that it must begin with; 0: any.
  TypoRanges Run(char32_t first) {
    first_ = first;
    Descend(list_.prefixes().root(), automaton_.Start(), 0);
    return std::move(found_);
  }

 private:
  struct Step {
    TypoAutomaton::Path path;
    size_t end;  // bytes of prefix_ that led here
  };

  // False: that was the last one.
  bool Look() {
    if (looks_left_ > 0) --looks_left_;
    found_.complete = looks_left_ > 0;
    return found_.complete;
  }

  // The letter after which the path can still come to a match, `from` or behind it.
  std::optional<char32_t> NextLetter(const TypoAutomaton::Path& path, size_t bytes, char32_t from) const {
    if (bytes > 0 || first_ == 0) return automaton_.NextLetter(path, from);
    return from <= first_ ? std::optional(first_) : std::nullopt;
  }

  // Steps to the children that can still come to a match. Below a node without children its texts are gone
  // through.
  void Descend(const PrefixTree::Node& node, const TypoAutomaton::Path& path, size_t bytes) {
    const auto children = list_.prefixes().Children(node);
    if (children.empty()) return Scan(node, path, bytes);
    for (auto child = children.begin(); child != children.end() && Look();) {
      const auto next = NextLetter(path, bytes, child->letter);
      if (!next) return;
      if (*next > child->letter) {
        child =
            std::lower_bound(child, children.end(), *next,
                             [](const PrefixTree::Node& n, char32_t letter) { return n.letter < letter; });
        continue;
      }
      const TypoAutomaton::Path stepped = automaton_.Step(path, child->letter);
      const size_t behind = bytes + Utf8Bytes(child->letter);
      const int edits = automaton_.Edits(stepped.state);
      if (edits <= TypoAutomaton::kMaxEdits) {
        found_.ranges.push_back({{child->begin, child->end}, edits, behind});
      } else {
        Descend(*child, stepped, behind);
      }
      ++child;
    }
  }

  void Scan(const PrefixTree::Node& node, const TypoAutomaton::Path& path, size_t bytes) {
    if (node.begin == node.end) return;
    end_ = node.end;
    prefix_ = list_.beginning(node.begin).substr(0, bytes);
    steps_.assign(1, {path, bytes});
    for (size_t at = node.begin; at < end_ && looks_left_ > 0;) at = Follow(at);
  }

  static size_t Utf8Bytes(char32_t letter) {
    return letter < 0x80 ? 1 : letter < 0x800 ? 2 : letter < 0x10000 ? 3 : 4;
  }

  std::string_view TextAt(size_t i) {
    Look();
    return list_.beginning(i);
  }

  // The first beginning from `from` on of which `before` does not hold; it holds of those before that.
  template <class Before>
  size_t Gallop(size_t from, Before before) {
    size_t low = from, step = 1;
    while (low < end_ && step < end_ - low && before(TextAt(low + step - 1))) {
      low += step;
      step *= 2;
    }
    size_t high = step < end_ - low ? low + step - 1 : end_;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (before(TextAt(middle))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  size_t PassPrefix(size_t from) {
    return Gallop(from, [this](std::string_view text) { return text.substr(0, prefix_.size()) <= prefix_; });
  }

  // Takes the path along the beginning at `at`, from where it leaves the one before; answers where to go on.
  size_t Follow(size_t at) {
    const std::string_view text = TextAt(at);
    const size_t common = static_cast<size_t>(
        std::mismatch(prefix_.begin(), prefix_.end(), text.begin(), text.end()).first - prefix_.begin());
    while (steps_.back().end > common) steps_.pop_back();
    prefix_.resize(steps_.back().end);
    for (size_t byte = prefix_.size(); byte < text.size();) {
      const size_t begin = byte;
      const char32_t letter = ReadLetter(text, &byte);
      const auto next = NextLetter(steps_.back().path, prefix_.size(), letter);
      if (!next) return PassPrefix(at + 1);
      if (*next > letter) {
        std::string wanted = prefix_;
        AppendUtf8(*next, &wanted);
        return Gallop(at + 1, [&wanted](std::string_view other) { return other < wanted; });
      }
      prefix_.append(text.substr(begin, byte - begin));
      steps_.push_back({automaton_.Step(steps_.back().path, letter), prefix_.size()});
      const int edits = automaton_.Edits(steps_.back().path.state);
      if (edits > TypoAutomaton::kMaxEdits) continue;
      const size_t end = PassPrefix(at + 1);
      found_.ranges.push_back({{at, end}, edits, prefix_.size()});
      return end;
    }
    return at + 1;
  }

  const CompletionList& list_;
  const TypoAutomaton& automaton_;
  size_t looks_left_, end_ = 0;
  char32_t first_ = 0;
  std::string prefix_;
  std::vector<Step> steps_;
  TypoRanges found_;
};

}  // namespace

TypoRanges FindTypoRanges(const CompletionList& list, std::string_view typed,
                          const TypoRangeOptions& options) {
  const TypoAutomaton automaton(Letters(typed), options.max_edits);
  size_t behind = 0;
  const char32_t first = options.may_change_first ? 0 : ReadLetter(typed, &behind);
  return Walk(list, automaton, options.max_looks).Run(first);
}

int ToleratedTypos(std::string_view typed) {
  const std::u32string letters = Letters(typed);
  if (letters.size() < 4 || letters.size() > TypoAutomaton::kMaxLetters) return 0;
  if (std::any_of(letters.begin(), letters.end(), IsDigit)) return 0;
  return letters.size() < 8 ? 1 : 2;
}

}  // namespace waymark
