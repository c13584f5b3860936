// Context features of words for the spelling checker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/spelling/tokens.h"
#include "weigh/vocabulary.h"

namespace weigh::spelling {

// Assigns indices to features in order of first appearance. With the neighbours L2 L1 and R1 R2 of a word these are
//   before:L1, after:R1, before:L2 L1, after:R1 R2, around:L1 _ R1, before2:L2, after2:R2,
//   ending-before: and ending-after: with the last three characters of a longer word, capital-before,
//   capital-after, capital or CAPITALS of the word itself, and near:W once for every word W of the window.
class Contexts {
public:
    // `window` is the number of words on each side.
    explicit Contexts(std::size_t window) : window_(window) {}

    // Append the features of token i; the context does not extend beyond its paragraph.
    void add(std::span<const Token> paragraph, std::size_t i, std::vector<std::int32_t>& features);

    Names names() const { return vocabulary_.names(); }

private:
    struct Name {
        Key key;
        std::size_t begin, size;  // in `text_`
    };

    void add_neighbours(std::span<const Token> paragraph, std::size_t i);
    void add_form(const Token& word, std::string_view side);
    void add_window(std::span<const Token> paragraph, std::size_t i);
    void add_name(std::initializer_list<std::string_view> parts);
    std::int32_t index(const Name& name);

    std::size_t window_;
    Vocabulary vocabulary_;
    std::string text_, scratch_[4];
    std::vector<Name> names_;  // of the current context
};

}  // namespace weigh::spelling
