// The words of a text, as mail needs them: prices, addresses of machines and versions stay whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weigh::mail {

// Runs of characters that are neither blanks nor separators, without dots, dashes and quotes around them.
// Capitals are kept. Words of more than 30 characters are told by their length alone: "long:3" has thirty
// to thirty-nine.
class Words {
public:
    static constexpr std::size_t kLongest = 30;  // characters

    explicit Words(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    // The word is valid until the next call.
    bool next(std::string_view& word);

private:
    const char* at_;
    const char* end_;
    std::string long_;
};

}  // namespace weigh::mail
