// Tests of the CSV parser against a reference state machine and on random bytes, in exactly sized buffers.
#include <optional>
#include <string>
#include <vector>

#include "expect.h"
#include "weigh/csv.h"

namespace {

namespace csv = weigh::csv;

using Records = std::vector<std::vector<std::string>>;

// Exactly sized heap memory, so that the sanitizer detects out-of-bounds reads.
struct Exact {
    explicit Exact(const std::string& text) : bytes(text.begin(), text.end()) { bytes.shrink_to_fit(); }
    std::string_view view() const { return {bytes.data(), bytes.size()}; }
    std::vector<char> bytes;
};

// Reference parser, one character at a time; nullopt if a quote is never closed.
std::optional<Records> reference_records(std::string_view data) {
    Records records;
    std::vector<std::string> fields{""};
    bool begins = true, quoted = false, blank = true;
    const auto finish = [&] {
        if (!blank) records.push_back(fields);
        fields = {""};
        begins = blank = true;
    };
    for (std::size_t i = 0; i < data.size(); ++i) {
        const char c = data[i];
        if (quoted) {
            if (c != '"') fields.back() += c;
            else if (i + 1 < data.size() && data[i + 1] == '"') fields.back() += data[i++];
            else quoted = false;
        } else if (c == '\n' || c == '\r') {
            finish();
        } else {
            blank = false;
            quoted = c == '"' && begins;
            begins = c == ',';
            if (c == ',') fields.emplace_back();
            else if (!quoted) fields.back() += c;
        }
    }
    if (quoted) return std::nullopt;
    finish();
    return records;
}

std::string random_text(Random& random, std::string_view signs, std::size_t max_records) {
    std::string text(random() % (max_records + 1), ' ');
    for (auto& c : text) c = signs[random() % signs.size()];
    return text;
}

std::string value(const csv::Column& column, std::size_t record, std::string_view data) {
    if (column.kind == csv::Kind::text) {
        const std::int64_t begin = column.begins[record], size = column.sizes[record];
        if (size < 0) return {};
        return std::string((begin >= 0 ? data : column.unescaped).substr(begin >= 0 ? begin : ~begin, size));
    }
    const auto code = column.codes[record];
    return code < 0 ? std::string() : std::string(column.texts[static_cast<std::size_t>(code)]);
}

void fields_equal_the_reference_parser(Random& random) {
    const Exact data(random_text(random, "aab,,\"\n\r", 200));
    const auto expected = reference_records(data.view());
    const std::size_t width = expected && !expected->empty() ? expected->front().size() : 1;
    for (const auto kind : {csv::Kind::string, csv::Kind::text}) {
        const std::vector<csv::Kind> kinds(width, kind);
        const auto table = csv::parse(data.view(), kinds, {}, csv::kNoLimit);
        if (table.error.fault == csv::Fault::none) EXPECT(expected && table.records == expected->size());
        if (!expected) continue;
        for (std::size_t r = 0; r < table.records; ++r)
            for (std::size_t k = 0; k < width; ++k)
                EXPECT(value(table.columns[k], r, data.view()) == (*expected)[r][k]);
        if (table.error.fault == csv::Fault::ragged)
            EXPECT((*expected)[table.records].size() == table.error.fields && table.error.fields != width);
    }
}

void chunks_split_at_record_ends_lose_no_record(Random& random) {
    const Exact data(random_text(random, "ab,\"\n", 300));
    const auto expected = reference_records(data.view());
    if (!expected) return;
    std::size_t found = 0;
    for (std::size_t at = 0, size = 1 + random() % 40; at < data.bytes.size();) {
        const Exact window(std::string(data.view().substr(at, size)));
        const auto scan_records =
            csv::scan_records(window.view(), ',', true, 1 + random() % 5, at + size >= data.bytes.size());
        found += scan_records.records;
        at += scan_records.end;
        if (scan_records.end == 0) size *= 2;
    }
    EXPECT(found == expected->size());
}

// Without quoting, a record is a line and a field is the text between commas.
void quotes_are_ordinary_characters_if_disabled(Random& random) {
    const Exact data(random_text(random, "ab,\"\n", 200));
    std::vector<std::string> lines(1);
    for (const char c : data.view()) {
        if (c == '\n') lines.emplace_back();
        else lines.back() += c;
    }
    std::erase(lines, "");
    const auto scan_records = csv::scan_records(data.view(), ',', false, csv::kNoLimit, true);
    EXPECT(scan_records.records == lines.size());
    const std::vector<csv::Kind> kinds{csv::Kind::text};
    const auto table = csv::parse(data.view(), kinds, {';', false, {}, {}}, csv::kNoLimit);
    EXPECT(table.records == lines.size() && table.error.fault == csv::Fault::none);
    for (std::size_t r = 0; r < table.records; ++r) EXPECT(value(table.columns[0], r, data.view()) == lines[r]);
}

void arbitrary_bytes_are_parsed_or_rejected(Random& random) {
    const std::vector<csv::Kind> all{csv::Kind::skip, csv::Kind::number, csv::Kind::text,   csv::Kind::integer,
                                     csv::Kind::real, csv::Kind::flag,   csv::Kind::string, csv::Kind::any};
    std::vector<csv::Kind> kinds(random() % 5);
    for (auto& kind : kinds) kind = all[random() % all.size()];
    const Exact data(random_text(random, "019-.einftrueNa,,,\n\n\" \xC3\xA9\xF0", 120));
    const auto table =
        csv::parse(data.view(), kinds, {',', true, {"?", "1"}, {}}, random() % 2 ? csv::kNoLimit : random() % 9);
    EXPECT(table.columns.size() == kinds.size());
    for (const auto& column : table.columns) {
        const std::size_t values = column.integers.size() + column.reals.size() + column.texts.size();
        bool within = true;
        for (const auto code : column.codes) within = within && code < static_cast<std::int64_t>(values);
        EXPECT(within);
    }
}

// Texts of up to 8, up to 16 and more bytes use different code paths.
void many_distinct_values_keep_their_codes(const std::string& stem) {
    std::string text;
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < 5000; ++i) text += stem + std::to_string(i) + "\n";
    const Exact data(text);
    const std::vector<csv::Kind> kinds{csv::Kind::string};
    const auto table = csv::parse(data.view(), kinds, {}, csv::kNoLimit);
    EXPECT(table.records == 10000 && table.columns[0].texts.size() == 5000);
    bool same = true;
    for (std::size_t i = 0; i < 10000; ++i) same = same && table.columns[0].codes[i] == static_cast<int>(i % 5000);
    EXPECT(same);
}

void formatted_numbers_stay_within_their_text(Random& random) {
    const std::vector<weigh::NumberFormat> formats{{},
                                                   {'.', ',', {"$", "USD"}, false},
                                                   {',', '.', {"\u20AC"}, false},
                                                   {',', ' ', {"%"}, true},
                                                   {'.', '\'', {}, false},
                                                   {'.', ',', {"kg"}, false, true, true, true, true, false, {"n.d."}},
                                                   {'.', ',', {}, false, false, false, false, false, true, {"-"}}};
    const Exact data(random_text(random, "01239..,, '()-+$%Ue<>~/:hmdkMkgn\xE2\x88\x92\xC2\xA0", 12));
    const std::vector<std::string_view> texts{data.view()};
    for (const auto& format : formats) {
        const auto parsed = csv::parse_number_texts(texts, format);
        EXPECT(parsed.fits[0] == 1 || parsed.numbers[0] != parsed.numbers[0]);
    }
}

void odd_fields_are_counted() {
    const Exact data("1\nx\n?\n\"2\"\ny\nz\nx\n");
    const std::vector<csv::Kind> kinds{csv::Kind::number};
    const auto table = csv::parse(data.view(), kinds, {',', true, {"?"}, {}}, csv::kNoLimit);
    EXPECT(table.error.fault == csv::Fault::none && table.records == 7);
    EXPECT(table.columns[0].missing == 1);
    EXPECT((table.columns[0].odd == std::vector<std::int64_t>{1, 4, 5, 6}));
}

void kinds_are_inferred() {
    const auto found = [](const char* text) {
        const Exact data(text);
        const std::vector<csv::Kind> kinds{csv::Kind::any};
        return csv::parse(data.view(), kinds, {}, csv::kNoLimit).columns[0].kind;
    };
    EXPECT(found("1\n-2\n0\n") == csv::Kind::integer);
    EXPECT(found("1\n-2\n 007\n") == csv::Kind::string);
    EXPECT(found("0.5\n00.5\n-01\n") == csv::Kind::real);
    EXPECT(found("1\n2.5\nnan\n") == csv::Kind::real);
    EXPECT(found("true\n0\n") == csv::Kind::flag);
    EXPECT(found("1\n2\ntrue\n") == csv::Kind::string);
    EXPECT(found("") == csv::Kind::string);
}

}  // namespace

int main() {
    Random random(1);
    for (int round = 0; round < 5000; ++round) {
        fields_equal_the_reference_parser(random);
        chunks_split_at_record_ends_lose_no_record(random);
        quotes_are_ordinary_characters_if_disabled(random);
        arbitrary_bytes_are_parsed_or_rejected(random);
        formatted_numbers_stay_within_their_text(random);
    }
    for (const char* stem : {"", "eight by", "value number by "}) many_distinct_values_keep_their_codes(stem);
    kinds_are_inferred();
    odd_fields_are_counted();
    return report();
}
