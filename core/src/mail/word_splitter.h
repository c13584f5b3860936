// Splits text into words for mail features: prices, IP addresses and version numbers stay whole.
#pragma once

#include <cstddef>
#include <string_view>

#include "weigh/mail/arena.h"

namespace weigh::mail {

// Words are sequences of characters that are neither white space nor separators, without surrounding dots, dashes and
// quotes. Case is preserved. Words of more than 30 characters are replaced by their length: "long:3" means 30 to 39.
class WordSplitter {
public:
    static constexpr std::size_t kMaxCharacters = 30;

    // The arena stores words that are not substrings of the text.
    WordSplitter(std::string_view text, Arena& arena)
        : at_(text.data()), end_(text.data() + text.size()), arena_(arena) {}

    bool next(std::string_view& word);

    // Properties of the last word.
    bool is_long() const { return is_long_; }  // replaced by its length
    bool has_non_ascii() const { return has_non_ascii_; }

private:
    const char* at_;
    const char* end_;
    Arena& arena_;
    bool is_long_ = false, has_non_ascii_ = false;
};

}  // namespace weigh::mail
