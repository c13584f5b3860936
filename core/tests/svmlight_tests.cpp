// Tests of the svmlight parser against reference loops and on random bytes, in exactly sized buffers.
#include <algorithm>
#include <string>
#include <vector>

#include "expect.h"
#include "weigh/svmlight.h"

namespace {

namespace svmlight = weigh::svmlight;
using svmlight::Fault;

// Exactly sized heap memory, so that the sanitizer detects out-of-bounds reads.
struct Exact {
    explicit Exact(const std::string& text) : bytes(text.begin(), text.end()) {
        bytes.shrink_to_fit();
        for (std::size_t begin = 0, at = 0; at <= text.size(); ++at)
            if (at == text.size() || text[at] == '\n') {
                begins.push_back(static_cast<std::int64_t>(begin));
                ends.push_back(static_cast<std::int64_t>(at));
                begin = at + 1;
            }
    }
    svmlight::Lines lines() const { return {{bytes.data(), bytes.size()}, begins, ends}; }

    std::vector<char> bytes;
    std::vector<std::int64_t> begins, ends;
};

svmlight::Rows parse_text(const std::string& text, std::int64_t base = 1, std::int64_t width = 100) {
    return svmlight::parse(Exact(text).lines(), base, width);
}

struct Outcome {
    Fault fault;
    std::size_t position;
    bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(const std::string& text, std::int64_t base = 1, std::int64_t width = 100) {
    const Exact exact(text);
    const svmlight::Rows rows = svmlight::parse(exact.lines(), base, width);
    return {rows.fault, rows.position};
}

void written_rows_are_parsed_back(Random& random) {
    std::vector<double> labels, values;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::string text;
    const std::size_t rows = 1 + random() % 5;
    std::int64_t min_index = -1, max_index = -1;
    for (std::size_t row = 0; row < rows; ++row) {
        const int label = static_cast<int>(random() % 7) - 3;
        text += (row ? "\n" : "") + std::string(random() % 2, ' ') + std::to_string(label);
        labels.push_back(label);
        for (std::int32_t index = 0; index < 20; ++index) {
            if (random() % 4) continue;
            const double value = static_cast<double>(static_cast<std::int64_t>(random() % 2001) - 1000) / 8;
            text += (random() % 3 ? " " : "\t ") + std::to_string(index) + ":" + std::to_string(value);
            indices.push_back(index);
            values.push_back(value);
            if (min_index < 0 || index < min_index) min_index = index;
            max_index = std::max<std::int64_t>(max_index, index);
        }
        indptr.push_back(static_cast<std::int64_t>(indices.size()));
        text += random() % 3 ? "" : random() % 2 ? "\r" : " # 3:4 word";
    }
    const Exact exact(text);
    const svmlight::Rows found = svmlight::parse(exact.lines(), 0, 20);
    EXPECT(found.fault == Fault::none && found.labels == labels && found.indptr == indptr);
    EXPECT(found.indices == indices && found.values == values);
    const svmlight::LineScan extent = svmlight::scan(exact.lines());
    EXPECT(extent.min_index == min_index && extent.max_index == max_index && extent.integer_labels);
}

void arbitrary_bytes_are_parsed_or_rejected(Random& random) {
    constexpr std::string_view kSigns = "0123456789 :.-+e#\n\t\rnaqid";
    std::string text;
    for (std::size_t size = random() % 40; size > 0; --size)
        text += random() % 20 ? kSigns[random() % kSigns.size()] : static_cast<char>(random());
    const Exact exact(text);
    svmlight::scan(exact.lines());
    const svmlight::Rows rows = svmlight::parse(exact.lines(), 1, 50);
    EXPECT(rows.position <= text.size());
    for (const std::int32_t index : rows.indices) EXPECT(index >= 0 && index < 50);
}

void errors_have_the_offset_of_their_word() {
    EXPECT(outcome_of("1 1:2\n-1 3:4") == (Outcome{Fault::none, 0}));
    EXPECT(outcome_of("1 1:2\nx 3:4") == (Outcome{Fault::label, 6}));
    EXPECT(outcome_of("1,2 1:2") == (Outcome{Fault::label, 0}));
    EXPECT(outcome_of("1:2") == (Outcome{Fault::label, 0}));
    EXPECT(outcome_of("nan 1:2") == (Outcome{Fault::label, 0}));
    EXPECT(outcome_of("+-1 1:2") == (Outcome{Fault::label, 0}));
    EXPECT(outcome_of("1 qid:2 1:2") == (Outcome{Fault::index, 2}));
    EXPECT(outcome_of("1 0:2") == (Outcome{Fault::index, 2}));
    EXPECT(outcome_of("1 0:2", 0) == (Outcome{Fault::none, 0}));
    EXPECT(outcome_of("1 7") == (Outcome{Fault::index, 2}));
    EXPECT(outcome_of("1 9999999999999999:1") == (Outcome{Fault::index, 2}));
    EXPECT(outcome_of("1 5:1 4:1") == (Outcome{Fault::order, 6}));
    EXPECT(outcome_of("1 5:1 5:1") == (Outcome{Fault::order, 6}));
    EXPECT(outcome_of("1 5:1 6:") == (Outcome{Fault::value, 6}));
    EXPECT(outcome_of("1 5:1 6:1:2") == (Outcome{Fault::value, 6}));
    EXPECT(outcome_of("1 100:1") == (Outcome{Fault::none, 0}));
    EXPECT(outcome_of("1 101:1") == (Outcome{Fault::beyond, 2}));
}

void integer_labels_are_detected() {
    const auto whole = [](const char* text) { return svmlight::scan(Exact(text).lines()).integer_labels; };
    EXPECT(whole("1\n-1\n+1"));
    EXPECT(!whole("1\n0.5"));
    EXPECT(!whole("1\n1e3"));
    EXPECT(!whole("1234567890123456789"));
    EXPECT(parse_text("+1 2:+3.5").labels == std::vector<double>{1});
    EXPECT(parse_text("+1 2:+3.5").values == std::vector<double>{3.5});
}

void numbers_are_parsed_up_to_the_first_failure() {
    const auto read = [](const char* text) {
        const Exact exact(text);
        std::vector<double> numbers(exact.begins.size());
        numbers.resize(svmlight::parse_numbers(exact.lines(), numbers));
        return numbers;
    };
    EXPECT((read("1\n-2.5\n+3e2") == std::vector<double>{1, -2.5, 300}));
    EXPECT((read("1e-400\n5e-324") == std::vector<double>{0, 5e-324}));
    for (const char* none : {"", "1_0", "nan", "inf", "1e400", "1e9999", "0x1", "1 ", "+-1", "-", "1:2"})
        EXPECT((read((std::string("7\n") + none + "\n8").c_str()) == std::vector<double>{7}));
}

}  // namespace

int main() {
    Random random(1);
    for (int round = 0; round < 5000; ++round) {
        written_rows_are_parsed_back(random);
        arbitrary_bytes_are_parsed_or_rejected(random);
    }
    errors_have_the_offset_of_their_word();
    integer_labels_are_detected();
    numbers_are_parsed_up_to_the_first_failure();
    return report();
}
