// The ledger as a file: header, slots, note. Numbers are in the machine's own order of bytes; the check
// refuses files of another.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "weigh/text_key.h"
#include "weigh/mail/ledger.h"

namespace weigh::mail {

namespace {

constexpr char kMagic[] = {'w', 'e', 'i', 'g', 'h', '\0', 'm', 'l'};
constexpr std::uint32_t kVersion = 1;

struct Header {
    char magic[8] = {};
    std::uint32_t version = kVersion;
    std::uint32_t note_size = 0;
    char learner[16] = {};
    Totals totals;
    std::uint64_t keys = 0;
    std::uint64_t capacity = 0;
    std::uint64_t slots_check = 0;
    std::uint64_t check = 0;  // of all before it, and of the note
};
static_assert(sizeof(Header) == 112 && std::is_trivially_copyable_v<Header>);

std::uint64_t checked(std::string_view bytes, std::uint64_t check) {
    const auto word = [&](std::size_t at) {
        return at < bytes.size() ? load_word(bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at)) : 0;
    };
    check ^= bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += 16)
        check = std::rotl(check, 17) ^ mix(word(at) ^ check, word(at + 8));
    return check;
}

std::uint64_t check_of(const Header& header, std::string_view note) {
    const std::string_view fields(reinterpret_cast<const char*>(&header), offsetof(Header, check));
    return checked(note, checked(fields, 0));
}

std::string_view bytes_of(std::span<const Slot> slots) {
    return {reinterpret_cast<const char*>(slots.data()), slots.size_bytes()};
}

std::string_view name_in(const Header& header) {
    return {header.learner, strnlen(header.learner, sizeof header.learner)};
}

void require(bool holds, const char* otherwise) {
    if (!holds) throw std::invalid_argument(otherwise);
}

bool are_finite(const Totals& totals) {
    return std::ranges::all_of(totals.biases,
                               [](const Bias& bias) { return std::isfinite(bias.weight) && std::isfinite(bias.sum); });
}

// Only a header whose numbers fit each other and the file is returned.
Header header_of(std::string_view file) {
    Header header;
    require(file.size() >= sizeof kMagic && std::memcmp(file.data(), kMagic, sizeof kMagic) == 0,
            "it does not begin as a ledger does.");
    require(file.size() >= sizeof header, "it is cut short within its header.");
    std::memcpy(&header, file.data(), sizeof header);
    require(header.version <= kVersion, "it is of a later version.");
    const std::size_t rest = file.size() - sizeof header;
    require(std::has_single_bit(header.capacity) && header.capacity >= Slots::kLeast &&
                header.capacity <= rest / sizeof(Slot) && header.capacity * sizeof(Slot) + header.note_size == rest,
            "its length is not what its header says.");
    require(header.check == check_of(header, file.substr(file.size() - header.note_size)), "its header is damaged.");
    require(header.version == kVersion && header.keys <= header.capacity && 5 * header.keys <= 3 * header.capacity &&
                header.totals.hams <= Ledger::kMostMessages &&
                header.totals.spams <= Ledger::kMostMessages - header.totals.hams && are_finite(header.totals),
            "its header says what no ledger can.");
    return header;
}

}  // namespace

Ledger Ledger::open(const std::string& path, bool whole) {
    Mapping file(path);
    const std::string_view bytes(file.data(), file.size());
    const Header header = header_of(bytes);
    Ledger ledger(learner_named(name_in(header)));
    ledger.totals_ = header.totals;
    ledger.note_ = bytes.substr(bytes.size() - header.note_size);
    ledger.slots_ = Slots(std::move(file), sizeof header, header.capacity, header.keys);
    require(!whole || checked(bytes_of(ledger.slots_.all()), 0) == header.slots_check, "its counts are damaged.");
    return ledger;
}

void Ledger::image(std::string_view note, const std::function<char*(std::size_t)>& room) const {
    require(note.size() <= std::numeric_limits<std::uint32_t>::max(), "the note is too long");
    const std::vector<Slot> ordered = slots_.ordered();
    Header header;
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.note_size = static_cast<std::uint32_t>(note.size());
    learner_->name().copy(header.learner, sizeof header.learner);
    header.totals = totals_;
    header.keys = ordered.size();
    header.capacity = Slots::capacity_for(ordered.size());
    const std::size_t size = header.capacity * sizeof(Slot);
    char* const image = room(sizeof header + size + note.size());
    char* const table = image + sizeof header;
    lay_out(ordered, header.capacity, table);
    header.slots_check = checked({table, size}, 0);
    header.check = check_of(header, note);
    std::memcpy(image, &header, sizeof header);
    note.copy(table + size, note.size());
}

}  // namespace weigh::mail
