// Comma-separated text into columns.
//
// A record ends at \n, \r\n or \r; blank lines are no records. A field that begins with '"' runs to
// the next '"' that is not doubled, over ends of lines too; what follows up to the delimiter is
// appended to it. A '"' elsewhere is a character like any other, and everywhere in files without
// `quotes`. The bytes are UTF-8, without a byte order mark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weigh::csv {

inline constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

// What a column is read as. All but `skip`, `number` and `text` are coded: one code per record and
// the distinct values in order of first appearance. A `text` stays where it is.
enum class Kind { skip, number, text, integer, real, flag, string, any };

struct Dialect {
    char delimiter = ',';
    bool quotes = true;
    std::vector<std::string> missing;  // fields that mean "missing"; the empty one always does
};

// Texts one after the other: text k is bytes[offsets[k]] .. bytes[offsets[k + 1]].
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

// One column; which members are filled goes by its kind, which for `any` is the one found:
// `integer`, `flag` or `real` if all values are such, else `string`.
struct Column {
    Kind kind = Kind::skip;
    std::vector<double> numbers;         // number: per record, NaN is missing
    std::vector<std::int32_t> codes;     // coded: per record, -1 is missing
    std::vector<std::int64_t> integers;  // distinct values of integers and flags
    std::vector<double> reals;           // distinct values of reals
    Texts texts;                         // distinct values of strings
    std::vector<std::int64_t> begins;    // text: where in the data, or (~begin) in `spilled`
    std::vector<std::int64_t> sizes;     // text: -1 is missing
    std::string spilled;                 // texts that had doubled quotes
};

enum class Fault { none, ragged, unfit, not_utf8, open_quote };

// What is wrong with a record, if anything.
struct Error {
    Fault fault = Fault::none;
    std::size_t record = 0;  // counted from 0
    std::size_t offset = 0;  // where the record begins
    std::size_t column = 0;
    std::size_t fields = 0;  // ragged: how many fields the record has
    std::string text;        // unfit: the value
};

struct Table {
    std::size_t records = 0;
    std::vector<Column> columns;
    Error error;  // the first one; reading stopped there
};

// Read at most `most` records of one field per kind.
Table parse(std::string_view data, std::span<const Kind> kinds, const Dialect& dialect, std::size_t most);

struct Cut {
    std::size_t end = 0;  // just behind the last whole record
    std::size_t records = 0;
};

// Find the end of the last whole record, or of the first `most`. `closed` says that nothing follows
// the data, so that its last record is whole even without an end of line.
Cut cut(std::string_view data, char delimiter, bool quotes, std::size_t most, bool closed);

}  // namespace weigh::csv
