// Codes for strings: the first distinct string gets code 0, the next new one 1, and so on.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "weigh/views.h"

namespace weigh {

// Open addressing over codes. The strings themselves lie end to end in `text`, the k-th from
// offsets[k] to offsets[k + 1]; hashes are kept so that a miss seldom has to look at them.
class StringDictionary {
public:
    StringDictionary() : offsets_{0}, slots_(64, Slot{0, kEmpty}) {}

    std::int32_t code(std::string_view word) {
        const std::uint64_t hash = hash_of(word);
        std::size_t at = hash & (slots_.size() - 1);
        while (slots_[at].code != kEmpty) {
            if (slots_[at].hash == hash && (*this)[slots_[at].code] == word) return slots_[at].code;
            at = (at + 1) & (slots_.size() - 1);
        }
        return add(word, hash, at);
    }

    std::string_view operator[](std::int32_t code) const {
        const auto k = static_cast<std::size_t>(code);
        const auto start = static_cast<std::size_t>(offsets_[k]);
        return {text_.data() + start, static_cast<std::size_t>(offsets_[k + 1]) - start};
    }

    std::size_t size() const { return offsets_.size() - 1; }
    std::vector<char>& text() { return text_; }
    std::vector<std::int64_t>& offsets() { return offsets_; }

private:
    static constexpr std::int32_t kEmpty = -1;
    struct Slot {
        std::uint64_t hash;
        std::int32_t code;
    };

    static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
        __extension__ typedef unsigned __int128 Wide;
        const Wide product = static_cast<Wide>(a) * b;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }

    static std::uint64_t word_at(const char* at, std::size_t bytes) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, bytes);
        return word;
    }

    // Eight bytes at a time; the last read overlaps the one before instead of going byte by byte.
    static std::uint64_t hash_of(std::string_view word) {
        constexpr std::uint64_t kFirst = 0x9e3779b97f4a7c15ULL, kSecond = 0xe7037ed1a0b428dbULL;
        const char* at = word.data();
        std::size_t left = word.size();
        std::uint64_t hash = kFirst ^ left;
        if (left < 8) return mixed(hash ^ word_at(at, left), kSecond);
        for (; left > 8; at += 8, left -= 8) hash = mixed(hash ^ word_at(at, 8), kSecond);
        return mixed(hash ^ word_at(word.data() + word.size() - 8, 8), kSecond);
    }

    std::int32_t add(std::string_view word, std::uint64_t hash, std::size_t at) {
        const auto code = static_cast<std::int32_t>(size());
        slots_[at] = {hash, code};
        text_.insert(text_.end(), word.begin(), word.end());
        offsets_.push_back(static_cast<std::int64_t>(text_.size()));
        if (size() * 2 >= slots_.size()) grow();
        return code;
    }

    void grow() {
        std::vector<Slot> old(slots_.size() * 4, Slot{0, kEmpty});
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.code == kEmpty) continue;
            std::size_t at = slot.hash & (slots_.size() - 1);
            while (slots_[at].code != kEmpty) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = slot;
        }
    }

    std::vector<char> text_;
    std::vector<std::int64_t> offsets_;
    std::vector<Slot> slots_;
};

}  // namespace weigh
