// The file format of the ledger: header, note, zeros up to a block boundary, slots, and a checksum for each block of
// slots. Version 1 had the slots between header and note, and one checksum for all of them. Integers are in native byte
// order; the checksum rejects files from machines with a different one.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "checksum.h"
#include "weigh/mail/ledger.h"

namespace weigh::mail {

namespace {

constexpr char kMagic[] = {'w', 'e', 'i', 'g', 'h', '\0', 'm', 'l'};
constexpr std::uint32_t kVersion = 2;

struct Header {
    char magic[8] = {};
    std::uint32_t version = kVersion;
    std::uint32_t note_size = 0;
    char learner[16] = {};
    Totals totals;
    std::uint64_t keys = 0;
    std::uint64_t capacity = 0;
    std::uint64_t table_checksum = 0;  // of the checksums of the blocks; in version 1, of the slots
    std::uint64_t checksum = 0;        // of all fields before it, and of the note with the zeros after it
};
static_assert(sizeof(Header) == 112 && std::is_trivially_copyable_v<Header>);

std::uint64_t header_checksum(const Header& header, std::string_view note) {
    const std::string_view fields(reinterpret_cast<const char*>(&header), offsetof(Header, checksum));
    return update_checksum(note, update_checksum(fields, 0));
}

// Where the parts of a file begin, and where it ends.
struct Layout {
    std::size_t note = sizeof(Header), table = sizeof(Header), checksums = 0, end = 0;

    explicit Layout(const Header& header) {
        const std::size_t size = header.capacity * sizeof(Slot), block = BlockLoader::kBlockSize;
        if (header.version == 1) {
            note = checksums = table + size;
            end = note + header.note_size;
        } else {
            table = (note + header.note_size + block - 1) / block * block;
            checksums = table + size;
            end = checksums + (size + block - 1) / block * sizeof(std::uint64_t);
        }
    }
};

template <class Item>
std::string_view bytes_of(const Item* items, std::size_t count) {
    return {reinterpret_cast<const char*>(items), count * sizeof(Item)};
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

std::string read_text(const RandomAccessFile& file, std::size_t begin, std::size_t size) {
    std::string text(size, '\0');
    text.resize(file.read(begin, text.data(), size));
    return text;
}

// Parse the header, and check that it is consistent with itself and the file size.
Header parse_header(const RandomAccessFile& file) {
    Header header;
    const std::string start = read_text(file, 0, sizeof header);
    require(start.size() >= sizeof kMagic && std::memcmp(start.data(), kMagic, sizeof kMagic) == 0,
            "it is not a mail ledger.");
    require(start.size() == sizeof header, "it is cut short within its header.");
    std::memcpy(&header, start.data(), sizeof header);
    require(header.version <= kVersion, "it was written by a later version.");
    require(std::has_single_bit(header.capacity) && header.capacity >= RowTable::kMinCapacity &&
                header.capacity <= file.size() / sizeof(Slot) && Layout(header).end == file.size(),
            "its length does not match its header.");
    return header;
}

// Check the header and the note, and return the note.
std::string read_note(const RandomAccessFile& file, const Header& header) {
    const Layout layout(header);
    const std::size_t end = header.version == 1 ? layout.end : layout.table;
    std::string note = read_text(file, layout.note, end - layout.note);
    require(header.checksum == header_checksum(header, note), "its header is damaged.");
    require(header.version >= 1 && header.keys <= header.capacity && 5 * header.keys <= 3 * header.capacity &&
                header.totals.hams <= Ledger::kMaxMessages &&
                header.totals.spams <= Ledger::kMaxMessages - header.totals.hams && are_finite(header.totals),
            "its header has invalid values.");
    note.resize(header.note_size);
    return note;
}

// Read all slots of a file of version 1, which has one checksum for all of them.
RowTable read_undivided_table(const RandomAccessFile& file, const Header& header) {
    ZeroedArray<Slot> slots(header.capacity, false);
    const std::string_view bytes = bytes_of(slots.data(), slots.size());
    const std::size_t done = file.read(Layout(header).table, reinterpret_cast<char*>(slots.data()), bytes.size());
    if (done < bytes.size() || update_checksum(bytes, 0) != header.table_checksum)
        throw DamagedFile("its counts are damaged.");
    return RowTable(std::move(slots), header.keys, nullptr);
}

std::unique_ptr<BlockLoader> open_blocks(RandomAccessFile&& file, const Header& header, std::span<char> target) {
    const Layout layout(header);
    std::vector<std::uint64_t> checksums((layout.end - layout.checksums) / sizeof(std::uint64_t));
    const std::string_view bytes = bytes_of(checksums.data(), checksums.size());
    const std::size_t done = file.read(layout.checksums, reinterpret_cast<char*>(checksums.data()), bytes.size());
    if (done < bytes.size() || update_checksum(bytes, 0) != header.table_checksum)
        throw DamagedFile("its checksums are damaged.");
    return std::make_unique<BlockLoader>(std::move(file), layout.table, std::move(checksums), target);
}

}  // namespace

Ledger Ledger::open(const std::string& path, bool verify_rows) {
    RandomAccessFile file(path);
    const Header header = parse_header(file);
    std::string note = read_note(file, header);
    Ledger ledger(learner_by_name(learner_name(header)));
    ledger.note_ = std::move(note);
    ledger.totals_ = header.totals;
    if (header.version == 1) {
        ledger.table_ = read_undivided_table(file, header);
        return ledger;
    }
    ZeroedArray<Slot> slots(header.capacity, false);
    const std::span<char> target(reinterpret_cast<char*>(slots.data()), header.capacity * sizeof(Slot));
    auto loader = open_blocks(std::move(file), header, target);
    if (verify_rows) loader->verify_all();
    ledger.table_ = RowTable(std::move(slots), header.keys, std::move(loader));
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
    const Layout layout(header);
    char* const image = allocate(layout.end);
    write_table(sorted, header.capacity, image + layout.table);
    const std::vector<std::uint64_t> checksums =
        BlockLoader::checksums({image + layout.table, layout.checksums - layout.table});
    const std::string_view checksum_bytes = bytes_of(checksums.data(), checksums.size());
    checksum_bytes.copy(image + layout.checksums, checksum_bytes.size());
    const std::size_t note_end = layout.note + note.copy(image + layout.note, note.size());
    std::fill(image + note_end, image + layout.table, '\0');
    header.table_checksum = update_checksum(checksum_bytes, 0);
    header.checksum = header_checksum(header, {image + layout.note, layout.table - layout.note});
    std::memcpy(image, &header, sizeof header);
}

}  // namespace weigh::mail
