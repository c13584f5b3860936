// The file format of the ledger: header, slots, note. Integers are in native byte order; the checksum rejects files
// from machines with a different one.
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
    std::uint64_t table_checksum = 0;
    std::uint64_t checksum = 0;  // of all fields before it, and of the note
};
static_assert(sizeof(Header) == 112 && std::is_trivially_copyable_v<Header>);

std::uint64_t update_checksum(std::string_view bytes, std::uint64_t checksum) {
    const auto word = [&](std::size_t at) {
        return at < bytes.size() ? load_word(bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at)) : 0;
    };
    checksum ^= bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += 16)
        checksum = std::rotl(checksum, 17) ^ mix(word(at) ^ checksum, word(at + 8));
    return checksum;
}

std::uint64_t header_checksum(const Header& header, std::string_view note) {
    const std::string_view fields(reinterpret_cast<const char*>(&header), offsetof(Header, checksum));
    return update_checksum(note, update_checksum(fields, 0));
}

std::string_view bytes_of(std::span<const Slot> slots) {
    return {reinterpret_cast<const char*>(slots.data()), slots.size_bytes()};
}

std::string_view learner_name(const Header& header) {
    return {header.learner, strnlen(header.learner, sizeof header.learner)};
}

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

bool are_finite(const Totals& totals) {
    return std::ranges::all_of(totals.biases,
                               [](const Bias& bias) { return std::isfinite(bias.weight) && std::isfinite(bias.sum); });
}

// Parse the header, and check that it is consistent with itself and the file size.
Header parse_header(std::string_view file) {
    Header header;
    require(file.size() >= sizeof kMagic && std::memcmp(file.data(), kMagic, sizeof kMagic) == 0,
            "it is not a mail ledger.");
    require(file.size() >= sizeof header, "it is cut short within its header.");
    std::memcpy(&header, file.data(), sizeof header);
    require(header.version <= kVersion, "it was written by a later version.");
    const std::size_t rest = file.size() - sizeof header;
    require(std::has_single_bit(header.capacity) && header.capacity >= RowTable::kMinCapacity &&
                header.capacity <= rest / sizeof(Slot) && header.capacity * sizeof(Slot) + header.note_size == rest,
            "its length does not match its header.");
    require(header.checksum == header_checksum(header, file.substr(file.size() - header.note_size)),
            "its header is damaged.");
    require(header.version == kVersion && header.keys <= header.capacity && 5 * header.keys <= 3 * header.capacity &&
                header.totals.hams <= Ledger::kMaxMessages &&
                header.totals.spams <= Ledger::kMaxMessages - header.totals.hams && are_finite(header.totals),
            "its header has invalid values.");
    return header;
}

}  // namespace

Ledger Ledger::open(const std::string& path, bool verify_rows) {
    MappedFile file(path);
    const std::string_view bytes(file.data(), file.size());
    const Header header = parse_header(bytes);
    Ledger ledger(learner_by_name(learner_name(header)));
    ledger.totals_ = header.totals;
    ledger.note_ = bytes.substr(bytes.size() - header.note_size);
    ledger.table_ = RowTable(std::move(file), sizeof header, header.capacity, header.keys);
    require(!verify_rows || update_checksum(bytes_of(ledger.table_.all()), 0) == header.table_checksum,
            "its counts are damaged.");
    return ledger;
}

void Ledger::serialize(std::string_view note, const std::function<char*(std::size_t)>& allocate) const {
    require(note.size() <= std::numeric_limits<std::uint32_t>::max(), "the note is too long");
    const std::vector<Slot> sorted = table_.sorted();
    Header header;
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.note_size = static_cast<std::uint32_t>(note.size());
    learner_->name().copy(header.learner, sizeof header.learner);
    header.totals = totals_;
    header.keys = sorted.size();
    header.capacity = RowTable::capacity_for(sorted.size());
    const std::size_t size = header.capacity * sizeof(Slot);
    char* const serialize = allocate(sizeof header + size + note.size());
    char* const table = serialize + sizeof header;
    write_table(sorted, header.capacity, table);
    header.table_checksum = update_checksum({table, size}, 0);
    header.checksum = header_checksum(header, note);
    std::memcpy(serialize, &header, sizeof header);
    note.copy(table + size, note.size());
}

}  // namespace weigh::mail
