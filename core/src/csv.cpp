#include "weigh/csv.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <memory>

#include "csv_columns.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weigh::csv {

// Iterates over the positions of any of three characters, 64 bytes at a time.
class Scanner {
public:
    Scanner(std::string_view data, char a, char b, char c) : data_(data), wanted_{a, b, c} { load_window(0); }

    // The next position, or the size of the data.
    std::size_t next() {
        while (hits_ == 0) {
            if (data_.size() - base_ <= kWindow) return data_.size();
            load_window(base_ + kWindow);
        }
        const auto first = static_cast<std::size_t>(std::countr_zero(hits_));
        hits_ &= hits_ - 1;
        return base_ + first;
    }

    // Skip the positions before `at`, which must not be before the last one.
    void skip(std::size_t at) {
        if (at - base_ < kWindow) hits_ &= ~std::uint64_t{0} << (at - base_);
        else load_window(at);
    }

private:
    static constexpr std::size_t kWindow = 64;

    void load_window(std::size_t base) {
        base_ = base;
        if (data_.size() - base >= kWindow) {
            hits_ = matches(data_.data() + base);
            return;
        }
        std::array<char, kWindow> tail{};
        const std::size_t rest = data_.size() - base;
        if (rest != 0) std::memcpy(tail.data(), data_.data() + base, rest);
        hits_ = matches(tail.data()) & ((std::uint64_t{1} << rest) - 1);
    }

#ifdef __SSE2__
    std::uint64_t matches(const char* from) const {
        const __m128i a = _mm_set1_epi8(wanted_[0]), b = _mm_set1_epi8(wanted_[1]), c = _mm_set1_epi8(wanted_[2]);
        std::uint64_t scan = 0;
        for (int part = 0; part < 4; ++part) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16 * part));
            const __m128i any = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, a), _mm_cmpeq_epi8(bytes, b)),
                                             _mm_cmpeq_epi8(bytes, c));
            scan |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(any))) << (16 * part);
        }
        return scan;
    }
#else
    std::uint64_t matches(const char* from) const {
        std::uint64_t scan = 0;
        for (std::size_t i = 0; i < kWindow; ++i)
            scan |= std::uint64_t{from[i] == wanted_[0] || from[i] == wanted_[1] || from[i] == wanted_[2]} << i;
        return scan;
    }
#endif

    std::string_view data_;
    std::array<char, 3> wanted_;
    std::size_t base_ = 0;
    std::uint64_t hits_ = 0;
};

inline bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// The position after the closing quote of a quoted field, or npos if there is none; `open` is the position of the
// opening quote.
inline std::size_t after_closing_quote(std::string_view data, std::size_t open) {
    for (std::size_t at = open + 1;; at += 2) {
        at = data.find('"', at);
        if (at == std::string_view::npos) return at;
        if (at + 1 == data.size() || data[at + 1] != '"') return at + 1;
    }
}

namespace {

class Parser {
public:
    Parser(std::string_view data, std::span<const Kind> kinds, const Dialect& dialect, std::size_t max_records)
        : data_(data),
          delimiter_(dialect.delimiter),
          quotes_(dialect.quotes),
          max_records_(max_records),
          field_ends_(data, dialect.delimiter, '\n', '\r') {
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            const NumberFormat format = dialect.formats.empty() ? NumberFormat{} : dialect.formats[k];
            readers_.push_back(make_reader(kinds[k], dialect.missing, format, data));
        }
        batch_ = std::clamp<std::size_t>(kBatchFields / std::max<std::size_t>(kinds.size(), 1), 1, kBatchRecords);
        fields_.resize(batch_ * kinds.size());
        begins_.resize(batch_);
    }

    Table parse() {
        while (error_.fault == Fault::none && records_ < max_records_ && begin_record()) store_batch(split_batch());
        resize(records_);
        Table table{records_, {}, std::move(error_)};
        for (auto& each : readers_) table.columns.push_back(each->finish());
        return table;
    }

private:
    static constexpr std::size_t kBatchRecords = 64, kBatchFields = 2048;

    bool begin_record() {
        if (at_ < data_.size() && is_line_end(data_[at_])) {
            while (at_ < data_.size() && is_line_end(data_[at_])) ++at_;
            field_ends_.skip(at_);
        }
        return at_ < data_.size();
    }

    // Split a batch of records into fields; return the number of records.
    std::size_t split_batch() {
        const std::size_t max_records = std::min(batch_, max_records_ - records_);
        unescaped_.clear();
        for (std::size_t record = 0; record < max_records; ++record)
            if (!begin_record() || !split_record(record)) return record;
        return max_records;
    }

    bool split_record(std::size_t record) {
        const std::size_t width = readers_.size();
        std::size_t column = 0;
        begins_[record] = at_;
        for (;; ++column) {
            const bool is_quoted = quotes_ && at_ < data_.size() && data_[at_] == '"';
            const Field field = is_quoted ? quoted_field() : plain_field();
            if (column < width) fields_[column * batch_ + record] = field;
            if (at_ == data_.size() || data_[at_] != delimiter_) break;
            ++at_;
        }
        if (error_.fault == Fault::none && column + 1 == width) return true;
        const Fault fault = error_.fault == Fault::none ? Fault::ragged : error_.fault;
        error_ = {fault, records_ + record, begins_[record], column, column + 1, {}};
        return false;
    }

    // Store the fields column by column, up to the first invalid record.
    void store_batch(std::size_t count) {
        reserve(records_ + count);
        for (std::size_t column = 0; column < readers_.size(); ++column) {
            const std::span<const Field> fields(fields_.data() + column * batch_, count);
            const StoreResult result = readers_[column]->store(records_, fields);
            if (result.fault == Fault::none) continue;
            count = result.count;
            error_ = {result.fault, records_ + count, begins_[count], column, 0, std::string(fields[count].text())};
        }
        records_ += count;
    }

    // Read the field at `at_`; afterwards `at_` is at the delimiter or line end that follows it.
    Field plain_field() {
        const std::size_t begin = at_;
        at_ = field_ends_.next();
        return field(begin, at_ - begin);
    }

    Field field(std::size_t begin, std::size_t size) const {
        return {data_.data() + begin, size, data_.size() - begin >= kPaddedBytes};
    }

    Field quoted_field() {
        const std::size_t open = at_, close = after_closing_quote(data_, open);
        if (close == std::string_view::npos) {
            error_.fault = Fault::open_quote;
            at_ = data_.size();
            return {};
        }
        field_ends_.skip(close);
        at_ = field_ends_.next();
        const std::string_view inner = data_.substr(open + 1, close - open - 2);
        const std::string_view rest = data_.substr(close, at_ - close);
        if (rest.empty() && inner.find('"') == std::string_view::npos) return field(open + 1, inner.size());
        std::string& text = unescaped_.emplace_back();
        for (std::size_t i = 0; i < inner.size(); ++i) {
            text.push_back(inner[i]);
            if (inner[i] == '"') ++i;
        }
        text.append(rest);
        return {text.data(), text.size(), false};
    }

    void reserve(std::size_t records) {
        if (records <= capacity_) return;
        // A record takes at least two bytes: its first field or delimiter, and its line end.
        const std::size_t wanted = max_records_ == kNoLimit ? std::max<std::size_t>(2 * records, 1024) : max_records_;
        capacity_ = std::min(wanted, data_.size() / 2 + 1);
        resize(capacity_);
    }

    void resize(std::size_t records) {
        for (auto& each : readers_) each->resize(records);
    }

    std::string_view data_;
    char delimiter_;
    bool quotes_;
    std::size_t max_records_;
    Scanner field_ends_;
    std::vector<std::unique_ptr<ColumnReader>> readers_;
    std::size_t batch_ = 1;              // records per batch
    std::vector<Field> fields_;          // fields of the batch, column by column
    std::vector<std::size_t> begins_;    // offsets of the records of the batch
    std::deque<std::string> unescaped_;  // fields with doubled quotes
    std::size_t at_ = 0;
    std::size_t records_ = 0, capacity_ = 0;
    Error error_;
};

}  // namespace

Table parse(std::string_view data, std::span<const Kind> kinds, const Dialect& dialect, std::size_t max_records) {
    return Parser(data, kinds, dialect, max_records).parse();
}

RecordScan scan_records(std::string_view data, char delimiter, bool quotes, std::size_t max_records, bool at_end) {
    Scanner marks(data, quotes ? '"' : '\n', '\n', '\r');
    RecordScan scan;
    std::size_t begin = 0, at = 0;  // offsets of the record and of the current special character
    while (scan.records < max_records && (at = marks.next()) < data.size()) {
        if (data[at] == '"') {
            if (at != begin && data[at - 1] != delimiter) continue;
            const std::size_t after = after_closing_quote(data, at);
            if (after == std::string_view::npos) break;
            marks.skip(after);
            continue;
        }
        if (at > begin) ++scan.records;
        begin = scan.end = at + 1;
    }
    if (at_end && scan.records < max_records && begin < data.size()) return {data.size(), scan.records + 1};
    return scan;
}

}  // namespace weigh::csv
