#include "weigh/tokens.h"

#include <algorithm>
#include <bit>

#include "word_masks.h"

namespace weigh {
namespace {

// The bits that are set in bytes beyond ASCII.
constexpr std::uint64_t kWideBits = 0x8080808080808080ULL;

// A character's first byte tells it apart from those that follow.
bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

std::size_t characters_in(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

}  // namespace

std::string_view to_utf8(const Text& text, std::string& scratch) {
    if (text.encoding == Encoding::utf8) return {static_cast<const char*>(text.data), text.size};
    scratch.clear();
    switch (text.encoding) {
        case Encoding::latin1:
            unicode::append_latin1(scratch, static_cast<const unsigned char*>(text.data), text.size);
            break;
        case Encoding::ucs2:
            unicode::append_ucs2(scratch, static_cast<const std::uint16_t*>(text.data), text.size);
            break;
        default: unicode::append_ucs4(scratch, static_cast<const std::uint32_t*>(text.data), text.size);
    }
    return scratch;
}

Tokenizer::Tokenizer(TokenSettings settings) : settings_(std::move(settings)) {
    for (const auto& word : settings_.stop_words) stops_.code(word, false) = 0;
}

void Tokenizer::each(const Documents& documents, std::size_t row, const Consume& consume) {
    consume_ = &consume;
    if (documents.are_split()) {
        each_given(documents, row);
    } else if (const Text& text = documents.texts[row]; !text.is_missing()) {
        unicode::fold(to_utf8(text, encoded_), settings_.folding, folded_);
        const std::size_t size = folded_.size();
        folded_.append(WordMasks::kWindow, '\0');
        const std::string_view folded(folded_.data(), size);
        switch (settings_.unit) {
            case Unit::words: each_word(folded); break;
            case Unit::characters: each_character(folded); break;
            case Unit::characters_within_words: each_character_within_words(folded); break;
        }
    }
    flush();
    joined_.clear();
    for (std::string* scratch : {&encoded_, &folded_, &spaced_, &joined_})
        if (scratch->capacity() > kKept) std::string().swap(*scratch);
}

void Tokenizer::each_given(const Documents& documents, std::size_t row) {
    const auto begin = static_cast<std::size_t>(documents.indptr[row]);
    const auto end = static_cast<std::size_t>(documents.indptr[row + 1]);
    for (std::size_t at = begin; at < end; ++at) {
        const double value = documents.values.empty() ? 1.0 : documents.values[at];
        if (value == 0) continue;
        std::string_view text = to_utf8(documents.texts[at], encoded_);
        if (documents.texts[at].encoding != Encoding::utf8) {
            make_room(text.size());
            const std::size_t begin = joined_.size();
            text = std::string_view(joined_.append(text)).substr(begin);
        }
        push(key_of(text, false), text, value);
    }
}

void Tokenizer::each_word(std::string_view text) {
    WordMasks masks(text);
    recent_.clear();
    std::size_t begin = 0;
    std::uint64_t before = 0;  // whether the last byte of the window before belongs to a word
    for (std::size_t base = 0; base <= text.size(); base += WordMasks::kWindow) {
        const std::uint64_t words = masks.at(base);
        std::uint64_t edges = words ^ ((words << 1) | before);
        bool inside = before != 0;
        for (; edges != 0; edges &= edges - 1, inside = !inside) {
            const std::size_t at = base + static_cast<std::size_t>(std::countr_zero(edges));
            if (inside) take_word({text.data() + begin, at - begin});
            else begin = at;
        }
        before = words >> 63;
    }
}

void Tokenizer::take_word(std::string_view word) {
    if (word.size() < settings_.min_length) return;
    const Key key = key_of(word, true);
    // A character has four bytes at most; of short words the key tells whether one has more than one.
    if (word.size() < 4 * settings_.min_length && (word.size() > kShortText || (key.low | key.high) & kWideBits) &&
        characters_in(word) < settings_.min_length)
        return;
    if (stops_.size() != 0 && stops_.find(key, word) != Dictionary::kNew) return;
    if (settings_.low == 1) push(key, word);
    if (settings_.high > 1) take_runs(word);
}

// The runs of several words that end with this one.
void Tokenizer::take_runs(std::string_view word) {
    recent_.push_back(word);
    if (recent_.size() > settings_.high) recent_.erase(recent_.begin());
    for (std::size_t n = std::max<std::size_t>(settings_.low, 2); n <= recent_.size(); ++n) {
        std::size_t size = n - 1;
        for (auto each = recent_.end() - static_cast<std::ptrdiff_t>(n); each != recent_.end(); ++each)
            size += each->size();
        make_room(size);
        const std::size_t begin = joined_.size();
        for (auto each = recent_.end() - static_cast<std::ptrdiff_t>(n); each != recent_.end(); ++each) {
            if (joined_.size() != begin) joined_.push_back(' ');
            joined_.append(*each);
        }
        const std::string_view run = std::string_view(joined_).substr(begin);
        push(key_of(run, false), run);
    }
}

void Tokenizer::each_character(std::string_view text) {
    spaced_.clear();
    bool was_space = false;
    for (const char *at = text.data(), *end = at + text.size(); at != end;) {
        const char* here = at;
        const bool is_space = unicode::is_space(unicode::decode(at, end));
        if (!is_space || !was_space) {
            spaced_.append(here, at);
        } else {
            // Two blanks or more, whatever they were, are one space.
            while (!begins_character(spaced_.back())) spaced_.pop_back();
            spaced_.back() = ' ';
        }
        was_space = is_space;
    }
    take_character_runs(spaced_);
}

void Tokenizer::each_character_within_words(std::string_view text) {
    for (const char *at = text.data(), *end = at + text.size(); at != end;) {
        const char *begin = at, *stop = at;
        while (at != end && !unicode::is_space(unicode::decode(at, end))) stop = at;
        if (stop == begin) continue;
        make_room(static_cast<std::size_t>(stop - begin) + 2);
        const std::size_t from = joined_.size();
        joined_.push_back(' ');
        joined_.append(begin, stop);
        joined_.push_back(' ');
        take_character_runs(std::string_view(joined_).substr(from));
    }
}

void Tokenizer::take_character_runs(std::string_view text) {
    starts_.clear();
    const bool within = settings_.unit == Unit::characters_within_words;
    std::size_t characters = 0;
    for (std::size_t at = 0; at < text.size();) {
        starts_.push_back(at);
        if (starts_.size() > settings_.high) starts_.erase(starts_.begin());
        ++characters;
        do ++at;
        while (at < text.size() && !begins_character(text[at]));
        for (std::size_t n = settings_.low; n <= starts_.size(); ++n) {
            const std::size_t begin = starts_[starts_.size() - n];
            const std::string_view run = text.substr(begin, at - begin);
            push(key_of(run, text.size() - begin >= kShortText), run);
        }
    }
    // A word shorter than the shortest run is a run of its own.
    if (within && characters < settings_.low) push(key_of(text, false), text);
}

void Tokenizer::push(const Key& key, std::string_view text, double value) {
    batch_[filled_++] = {key, text, value};
    if (filled_ == kBatch) flush();
}

void Tokenizer::flush() {
    if (filled_ != 0) (*consume_)(std::span<const Token>(batch_.data(), filled_));
    filled_ = 0;
}

// Tokens that wait in the batch may lie in `joined_`, which must not move under them.
void Tokenizer::make_room(std::size_t size) {
    if (joined_.size() + size <= joined_.capacity()) return;
    flush();
    joined_.clear();
    joined_.reserve(std::max<std::size_t>(2 * size, kKept / 16));
}

}  // namespace weigh
