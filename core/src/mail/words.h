// The words of a text, as mail needs them: prices, addresses of machines and versions stay whole.
#pragma once

#include <cstddef>
#include <string_view>

#include "weigh/mail/arena.h"

namespace weigh::mail {

// Runs of characters that are neither blanks nor separators, without dots, dashes and quotes around them.
// Capitals are kept. Words of more than 30 characters are told by their length alone: "long:3" has thirty
// to thirty-nine.
class Words {
public:
    static constexpr std::size_t kLongest = 30;  // characters

    // The arena keeps words that are no part of the text.
    Words(std::string_view text, Arena& arena) : at_(text.data()), end_(text.data() + text.size()), arena_(arena) {}

    bool next(std::string_view& word);

    // How the last word stands in the text.
    bool is_long() const { return is_long_; }  // not at all
    bool is_wide() const { return is_wide_; }  // with characters beyond ASCII

private:
    const char* at_;
    const char* end_;
    Arena& arena_;
    bool is_long_ = false, is_wide_ = false;
};

}  // namespace weigh::mail
