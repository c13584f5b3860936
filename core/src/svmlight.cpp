#include "weigh/svmlight.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace weigh::svmlight {

namespace {

// More digits than any index or exact integer label has.
constexpr std::size_t kMaxDigits = 15;

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Iterates over the words of a line.
class Words {
public:
    explicit Words(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {
        if (const void* mark = line.empty() ? nullptr : std::memchr(at_, '#', line.size()))
            end_ = static_cast<const char*>(mark);
    }

    // The next word; empty at the end of the line.
    std::string_view next() {
        while (at_ != end_ && is_blank(*at_)) ++at_;
        const char* begin = at_;
        while (at_ != end_ && !is_blank(*at_)) ++at_;
        return {begin, static_cast<std::size_t>(at_ - begin)};
    }

    std::string_view last() const {
        const char* end = end_;
        while (end != at_ && is_blank(end[-1])) --end;
        const char* begin = end;
        while (begin != at_ && !is_blank(begin[-1])) --begin;
        return {begin, static_cast<std::size_t>(end - begin)};
    }

private:
    const char* at_;
    const char* end_;
};

// Parse the first `size` characters of a word as digits; -1 on failure.
std::int64_t parse_digits(std::string_view word, std::size_t size) {
    if (size == 0 || size > kMaxDigits) return -1;
    std::int64_t number = 0;
    for (std::size_t i = 0; i < size; ++i) {
        if (!is_digit(word[i])) return -1;
        number = 10 * number + (word[i] - '0');
    }
    return number;
}

std::string_view unsigned_part(std::string_view word) {
    return word.starts_with('+') || word.starts_with('-') ? word.substr(1) : word;
}

bool is_integer(std::string_view word) {
    const std::string_view number = unsigned_part(word);
    return parse_digits(number, number.size()) >= 0;
}

bool parse_number(std::string_view word, double& number) {
    if (word.starts_with('+')) {
        word.remove_prefix(1);
        if (word.starts_with('-')) return false;
    }
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    if (error == std::errc::result_out_of_range) {
        // A wider type distinguishes underflow, which gives zero, from overflow.
        long double wide = 0;
        const auto [wide_end, wide_code] = std::from_chars(word.data(), end, wide);
        number = static_cast<double>(wide);
        return wide_code == std::errc() && wide_end == end;
    }
    return error == std::errc() && stop == end;
}

// The error of a line, and the word that caused it.
struct LineError {
    Fault fault = Fault::none;
    const char* word = nullptr;
};

LineError parse_line(std::string_view line, std::int64_t base, std::int64_t width, Rows& rows) {
    Words words(line);
    const std::string_view label = words.next();
    double number = 0;
    if (!parse_number(label, number) || !std::isfinite(number)) return {Fault::label, label.data()};
    rows.labels.push_back(number);
    std::int64_t previous = -1;
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
        const std::size_t colon = std::min(word.find(':'), word.size());
        const std::int64_t index = parse_digits(word, colon);
        if (colon == word.size() || index < base) return {Fault::index, word.data()};
        if (index <= previous) return {Fault::order, word.data()};
        if (index - base >= width) return {Fault::beyond, word.data()};
        if (!parse_number(word.substr(colon + 1), number) || !std::isfinite(number)) return {Fault::value, word.data()};
        rows.indices.push_back(static_cast<std::int32_t>(index - base));
        rows.values.push_back(number);
        previous = index;
    }
    rows.indptr.push_back(static_cast<std::int64_t>(rows.indices.size()));
    return {};
}

}  // namespace

std::size_t parse_numbers(const Lines& words, std::span<double> numbers) {
    std::size_t i = 0;
    while (i < words.size() && parse_number(words[i], numbers[i]) && std::isfinite(numbers[i])) ++i;
    return i;
}

LineScan scan(const Lines& lines) {
    LineScan scan_result;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        Words words(lines[i]);
        scan_result.integer_labels = is_integer(words.next()) && scan_result.integer_labels;
        const std::string_view last = words.last(), first = words.next();
        const std::int64_t low = parse_digits(first, std::min(first.find(':'), first.size()));
        scan_result.max_index =
            std::max(scan_result.max_index, parse_digits(last, std::min(last.find(':'), last.size())));
        if (low >= 0) scan_result.min_index = scan_result.min_index < 0 ? low : std::min(scan_result.min_index, low);
    }
    return scan_result;
}

Rows parse(const Lines& lines, std::int64_t base, std::int64_t width) {
    Rows rows;
    rows.labels.reserve(lines.size());
    rows.indptr.reserve(lines.size() + 1);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const LineError error = parse_line(lines[i], base, width, rows);
        if (error.fault != Fault::none) {
            rows.fault = error.fault;
            rows.position = static_cast<std::size_t>(error.word - lines.text.data());
            break;
        }
    }
    return rows;
}

}  // namespace weigh::svmlight
