#include "weigh/encode.h"

#include "weigh/dictionary.h"

namespace weigh {
namespace {

constexpr std::int32_t kEmpty = -1;

// Open-addressing hash table of codes; the keys are stored in `distinct`.
class KeyTable {
public:
    explicit KeyTable(std::vector<std::int64_t>& distinct) : distinct_(distinct), slots_(256, kEmpty) {}

    std::int32_t code(std::int64_t key) {
        if (distinct_.size() * 2 >= slots_.size()) grow();
        std::int32_t& slot = slots_[find(key)];
        if (slot == kEmpty) {
            slot = static_cast<std::int32_t>(distinct_.size());
            distinct_.push_back(key);
        }
        return slot;
    }

private:
    std::size_t find(std::int64_t key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = mix(static_cast<std::uint64_t>(key)) & mask;
        while (slots_[at] != kEmpty && distinct_[static_cast<std::size_t>(slots_[at])] != key) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        slots_.assign(slots_.size() * 2, kEmpty);
        for (std::size_t code = 0; code < distinct_.size(); ++code)
            slots_[find(distinct_[code])] = static_cast<std::int32_t>(code);
    }

    std::vector<std::int64_t>& distinct_;
    std::vector<std::int32_t> slots_;
};

template <class Offset>
EncodedStrings encode(const Strings<Offset>& strings) {
    EncodedStrings result;
    result.codes.assign(strings.offsets.size() - 1, -1);
    Dictionary dictionary;
    for (std::size_t i = 0; i < result.codes.size(); ++i) {
        const std::size_t bit = strings.bit_offset + i;
        if (strings.validity && !(strings.validity[bit / 8] >> (bit % 8) & 1)) continue;
        const auto start = static_cast<std::size_t>(strings.offsets[i]);
        const auto word = strings.text.substr(start, static_cast<std::size_t>(strings.offsets[i + 1]) - start);
        std::int32_t& code = dictionary.code(word, start + 16 <= strings.text.size());
        if (code == Dictionary::kNew) {
            code = static_cast<std::int32_t>(result.distinct.size());
            result.distinct.push_back(word);
        }
        result.codes[i] = code;
    }
    return result;
}

}  // namespace

EncodedStrings encode_strings(const Strings<std::int32_t>& strings) { return encode(strings); }
EncodedStrings encode_strings(const Strings<std::int64_t>& strings) { return encode(strings); }

EncodedKeys encode_keys(Strided<std::int64_t> keys) {
    EncodedKeys result;
    result.codes.resize(keys.size);
    KeyTable table(result.distinct);
    for (std::size_t i = 0; i < keys.size; ++i) {
        // Fast path for sorted and constant columns, which repeat the previous value.
        result.codes[i] = i > 0 && keys[i] == keys[i - 1] ? result.codes[i - 1] : table.code(keys[i]);
    }
    return result;
}

}  // namespace weigh
