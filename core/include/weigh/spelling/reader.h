// Finds the words of confusion sets in texts, with their contexts, in one pass.
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

// The occurrences of one set, column by column; row i has the features indptr[i] .. indptr[i + 1].
struct OccurrenceColumns {
    std::vector<std::int32_t> members, documents;
    std::vector<std::int64_t> at, begins;  // number of words and bytes before it in the document
    std::vector<std::int32_t> sizes;       // in bytes
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> features;
};

// A bounded sample of the occurrences of one set. When it has `max_occurrences`, about half of them are dropped and
// the sampling rate is halved; which ones is determined by hashing their sequence numbers.
class OccurrenceSample {
public:
    explicit OccurrenceSample(std::size_t max_occurrences) : max_occurrences_(max_occurrences) {}

    // Whether the next occurrence is sampled and should be added.
    bool accept_next();

    OccurrenceColumns columns;
    std::uint64_t stride() const { return stride_; }  // sampling interval on average

private:
    // Drop half of the sample after `n_seen` occurrences.
    void halve(std::uint64_t n_seen);

    std::size_t max_occurrences_;
    std::uint64_t n_seen_ = 0, stride_ = 1;
};

// Position of a chunk: its document, and the words and bytes before it there.
struct ChunkPosition {
    std::int32_t document = 0;
    std::int64_t words = 0, begin = 0;
};

class Reader {
public:
    // Words are in lower case with ' for apostrophes; duplicates are an error.
    Reader(std::span<const std::vector<std::string>> sets, std::size_t window, std::size_t max_occurrences);

    // Read a chunk of text, and return its number of words. Contexts do not extend beyond the chunk.
    std::int64_t read(std::string_view chunk, const ChunkPosition& position);

    std::size_t size() const { return sets_.size(); }
    const OccurrenceSample& set(std::size_t number) const { return sets_[number]; }
    Names names() const { return contexts_.names(); }

private:
    struct Member {
        std::size_t set;
        std::int32_t number;
    };
    struct Match {
        std::size_t token;
        Member member;
        std::int64_t at;
    };

    void check_word(const Token& word, std::string_view chunk, std::int64_t at);
    void end_paragraph(std::string_view chunk, const ChunkPosition& position);

    std::vector<OccurrenceSample> sets_;
    std::vector<Member> members_;
    Dictionary codes_;  // indices in `members_` by word
    Contexts contexts_;
    std::vector<Token> paragraph_;
    std::vector<Match> matches_;
    std::string scratch_;
};

}  // namespace weigh::spelling
