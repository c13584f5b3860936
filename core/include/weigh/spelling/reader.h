// A reader of texts that finds the words of confusion sets and their contexts in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/dictionary.h"
#include "weigh/spelling/contexts.h"
#include "weigh/spelling/tokens.h"

namespace weigh::spelling {

// The occurrences of one set by column; row i owns the features indptr[i] .. indptr[i + 1].
struct Columns {
    std::vector<std::int32_t> members, documents;
    std::vector<std::int64_t> at, begins;  // words and bytes of the document before it
    std::vector<std::int32_t> sizes;       // bytes
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> features;
};

// The occurrences that are kept of one set. When there are `most`, about half of them are dropped, and from then on
// only half of those that would have been taken before are; which ones, their numbers say.
class Kept {
public:
    explicit Kept(std::size_t most) : most_(most) {}

    // Whether the next occurrence is to be added.
    bool takes_next();

    Columns columns;
    std::uint64_t stride() const { return stride_; }  // one of so many is taken, on average

private:
    // Drop half of the occurrences, of which so many were met.
    void thin(std::uint64_t met);

    std::size_t most_;
    std::uint64_t met_ = 0, stride_ = 1;
};

// Where a piece lies: its document, and the words and bytes before it there.
struct Place {
    std::int32_t document = 0;
    std::int64_t words = 0, begin = 0;
};

class Reader {
public:
    // Words are in lower case with ' for apostrophes; one that occurs twice is an error.
    Reader(std::span<const std::vector<std::string>> sets, std::size_t window, std::size_t most);

    // Read a piece of text, beyond which no context reaches, and return the number of its words.
    std::int64_t read(std::string_view piece, const Place& place);

    std::size_t size() const { return sets_.size(); }
    const Kept& set(std::size_t number) const { return sets_[number]; }
    Names names() const { return contexts_.names(); }

private:
    struct Member {
        std::size_t set;
        std::int32_t number;
    };
    struct Found {
        std::size_t token;
        Member member;
        std::int64_t at;
    };

    void look_at(const Token& word, std::string_view piece, std::int64_t at);
    void end_paragraph(std::string_view piece, const Place& place);

    std::vector<Kept> sets_;
    std::vector<Member> members_;
    Dictionary codes_;  // places in `members_` by word
    Contexts contexts_;
    std::vector<Token> paragraph_;
    std::vector<Found> found_;
    std::string scratch_;
};

}  // namespace weigh::spelling
