#include "weigh/csv.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "csv_columns.h"
#include "csv_scan.h"

namespace weigh::csv {
namespace {

class Parser {
public:
    Parser(std::string_view data, std::span<const Kind> kinds, const Dialect& dialect, std::size_t most)
        : data_(data),
          delimiter_(dialect.delimiter),
          quotes_(dialect.quotes),
          most_(most),
          ends_(data, dialect.delimiter, '\n', '\r') {
        for (const Kind kind : kinds) readers_.push_back(reader(kind, dialect.missing, data));
        batch_ = std::clamp<std::size_t>(kBatchFields / std::max<std::size_t>(kinds.size(), 1), 1, kBatchRecords);
        fields_.resize(batch_ * kinds.size());
        begins_.resize(batch_);
    }

    Table parse() {
        while (error_.fault == Fault::none && records_ < most_ && begin_record()) store(split());
        resize(records_);
        Table table{records_, {}, std::move(error_)};
        for (auto& each : readers_) table.columns.push_back(each->finish());
        return table;
    }

private:
    static constexpr std::size_t kBatchRecords = 64, kBatchFields = 2048;

    bool begin_record() {
        if (at_ < data_.size() && ends_line(data_[at_])) {
            while (at_ < data_.size() && ends_line(data_[at_])) ++at_;
            ends_.skip(at_);
        }
        return at_ < data_.size();
    }

    // Find the fields of some records, and return how many records these are.
    std::size_t split() {
        const std::size_t most = std::min(batch_, most_ - records_);
        unquoted_.clear();
        for (std::size_t record = 0; record < most; ++record)
            if (!begin_record() || !split_record(record)) return record;
        return most;
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

    // Hand the fields over, column by column; the first record that does not fit ends everything.
    void store(std::size_t count) {
        make_room(records_ + count);
        for (std::size_t column = 0; column < readers_.size(); ++column) {
            const std::span<const Field> fields(fields_.data() + column * batch_, count);
            const Taken taken = readers_[column]->take(records_, fields);
            if (taken.fault == Fault::none) continue;
            count = taken.count;
            error_ = {taken.fault, records_ + count, begins_[count], column, 0, std::string(fields[count].text())};
        }
        records_ += count;
    }

    // The field that begins here; afterwards `at_` is at the delimiter or the end of line behind it.
    Field plain_field() {
        const std::size_t begin = at_;
        at_ = ends_.next();
        return field(begin, at_ - begin);
    }

    Field field(std::size_t begin, std::size_t size) const {
        return {data_.data() + begin, size, data_.size() - begin >= kRoom};
    }

    Field quoted_field() {
        const std::size_t open = at_, close = behind_quotes(data_, open);
        if (close == std::string_view::npos) {
            error_.fault = Fault::open_quote;
            at_ = data_.size();
            return {};
        }
        ends_.skip(close);
        at_ = ends_.next();
        const std::string_view inner = data_.substr(open + 1, close - open - 2);
        const std::string_view rest = data_.substr(close, at_ - close);
        if (rest.empty() && inner.find('"') == std::string_view::npos) return field(open + 1, inner.size());
        std::string& text = unquoted_.emplace_back();
        for (std::size_t i = 0; i < inner.size(); ++i) {
            text.push_back(inner[i]);
            if (inner[i] == '"') ++i;
        }
        text.append(rest);
        return {text.data(), text.size(), false};
    }

    void make_room(std::size_t records) {
        if (records <= room_) return;
        // A record takes two bytes at least: its first field or delimiter, and its end.
        const std::size_t wanted = most_ == kAll ? std::max<std::size_t>(2 * records, 1024) : most_;
        room_ = std::min(wanted, data_.size() / 2 + 1);
        resize(room_);
    }

    void resize(std::size_t records) {
        for (auto& each : readers_) each->resize(records);
    }

    std::string_view data_;
    char delimiter_;
    bool quotes_;
    std::size_t most_;
    Scanner ends_;
    std::vector<std::unique_ptr<Reader>> readers_;
    std::size_t batch_ = 1;             // records that are split before they are stored
    std::vector<Field> fields_;         // of these records, column by column
    std::vector<std::size_t> begins_;   // where these records begin
    std::deque<std::string> unquoted_;  // fields that had doubled quotes
    std::size_t at_ = 0;
    std::size_t records_ = 0, room_ = 0;
    Error error_;
};

}  // namespace

Table parse(std::string_view data, std::span<const Kind> kinds, const Dialect& dialect, std::size_t most) {
    return Parser(data, kinds, dialect, most).parse();
}

Cut cut(std::string_view data, char delimiter, bool quotes, std::size_t most, bool closed) {
    Scanner marks(data, quotes ? '"' : '\n', '\n', '\r');
    Cut found;
    std::size_t begin = 0, at = 0;  // of the record, and of the mark in it
    while (found.records < most && (at = marks.next()) < data.size()) {
        if (data[at] == '"') {
            if (at != begin && data[at - 1] != delimiter) continue;
            const std::size_t behind = behind_quotes(data, at);
            if (behind == std::string_view::npos) break;
            marks.skip(behind);
            continue;
        }
        if (at > begin) ++found.records;
        begin = found.end = at + 1;
    }
    if (closed && found.records < most && begin < data.size()) return {data.size(), found.records + 1};
    return found;
}

}  // namespace weigh::csv
