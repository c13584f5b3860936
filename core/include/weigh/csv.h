// Parses delimiter-separated text into columns.
//
// A record ends at \n, \r\n or \r; blank lines are ignored. A field that begins with '"' extends to the next '"' that
// is not doubled, across line ends; text between the closing quote and the delimiter is appended to it. A '"'
// elsewhere, or in files without `quotes`, is an ordinary character. The input is UTF-8 without a byte order mark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/number_text.h"

namespace weigh::csv {

inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// How a column is read. All kinds except `skip`, `number` and `text` are encoded: one code per record and the
// distinct values in order of first appearance. A `text` is a span of the input.
enum class Kind { skip, number, text, integer, real, flag, string, any };

struct Dialect {
    char delimiter = ',';
    bool quotes = true;
    std::vector<std::string> missing;   // fields that mean "missing", in addition to the empty one
    std::vector<NumberFormat> formats;  // how the numbers of each column are written; empty if all are plain
};

// Concatenated texts: text k is bytes[offsets[k]] .. bytes[offsets[k + 1]].
struct Texts {
    std::vector<std::size_t> offsets{0};
    std::string bytes;

    std::size_t size() const { return offsets.size() - 1; }
    std::string_view operator[](std::size_t k) const {
        return std::string_view(bytes).substr(offsets[k], offsets[k + 1] - offsets[k]);
    }
    void add(std::string_view text) {
        bytes.append(text);
        offsets.push_back(bytes.size());
    }
};

// One column. Its kind determines which members are used. For `any` the kind is inferred: `integer`, `flag` or `real`
// if all values are valid, else `string`.
struct Column {
    Kind kind = Kind::skip;
    std::vector<double> numbers;         // number: per record, NaN is missing or odd
    std::size_t missing = 0;             // number: how many are missing
    std::vector<std::int64_t> odd;       // number: records with fields that are neither numbers nor missing
    std::vector<std::int32_t> codes;     // coded: per record, -1 is missing
    std::vector<std::int64_t> integers;  // distinct values of integers and flags
    std::vector<double> reals;           // distinct values of reals
    Texts texts;                         // distinct values of strings
    std::vector<std::int64_t> begins;    // text: offset in the data, or ~offset in `unescaped`
    std::vector<std::int64_t> sizes;     // text: -1 is missing
    std::string unescaped;               // texts with doubled quotes
};

enum class Fault { none, ragged, unfit, not_utf8, open_quote };

// The first invalid record, if any.
struct Error {
    Fault fault = Fault::none;
    std::size_t record = 0;  // counted from 0
    std::size_t offset = 0;  // where the record begins
    std::size_t column = 0;
    std::size_t fields = 0;  // ragged: number of fields of the record
    std::string text;        // unfit: the value
};

struct Table {
    std::size_t records = 0;
    std::vector<Column> columns;
    Error error;  // the first one; parsing stopped there
};

// Parse at most `max_records` records with one field per kind.
Table parse(std::string_view data, std::span<const Kind> kinds, const Dialect& dialect, std::size_t max_records);

struct ParsedTexts {
    std::vector<double> numbers;     // NaN if the text does not fit
    std::vector<std::uint8_t> fits;  // 1 if the text is a number or "nan"
};

// Parse texts as a number column does.
ParsedTexts parse_number_texts(std::span<const std::string_view> texts, const NumberFormat& format);

struct RecordScan {
    std::size_t end = 0;  // end of the last complete record
    std::size_t records = 0;
};

// Find the end of the last complete record, or of record `max_records`. `at_end` means that the data ends here, so
// that the last record is complete even without a line end.
RecordScan scan_records(std::string_view data, char delimiter, bool quotes, std::size_t max_records, bool at_end);

}  // namespace weigh::csv
