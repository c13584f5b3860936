#include "csv_columns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "csv_values.h"
#include "weigh/dictionary.h"
#include "weigh/encode.h"

namespace weigh::csv {
namespace {

class MissingMarkers {
public:
    explicit MissingMarkers(std::span<const std::string> texts) : texts_(texts.begin(), texts.end()) {
        for (const auto& text : texts) {
            double number = 0;
            if (parse_number(text, false, number)) numbers_.push_back(number);
        }
    }

    bool has(std::string_view text) const {
        return text.empty() || std::find(texts_.begin(), texts_.end(), text) != texts_.end();
    }

    bool has(double number) const { return std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end(); }

    // Whether a text is the number of a marker, however spelled: -9, -9.0 or -09.
    bool has_number_of(std::string_view text) const {
        double number = 0;
        return !numbers_.empty() && parse_number(text, false, number) && has(number);
    }

private:
    std::vector<std::string> texts_;
    std::vector<double> numbers_;
};

class SkippedColumn final : public ColumnReader {
public:
    void resize(std::size_t) override {}
    StoreResult store(std::size_t, std::span<const Field> fields) override { return {fields.size()}; }
    Column finish() override { return {}; }
};

class NumberColumn final : public ColumnReader {
public:
    NumberColumn(std::span<const std::string> missing, const NumberFormat& format)
        : markers_(missing), parser_(format) {
        column_.kind = Kind::number;
    }

    void resize(std::size_t records) override { column_.numbers.resize(records); }

    StoreResult store(std::size_t first, std::span<const Field> fields) override {
        double* number = column_.numbers.data() + first;
        for (std::size_t k = 0; k < fields.size(); ++k, ++number) {
            const Field& field = fields[k];
            const bool fits = parser_.parse(field.text(), field.is_padded, *number);
            if (fits && !markers_.has(*number) && !std::isnan(*number)) continue;
            *number = std::numeric_limits<double>::quiet_NaN();
            if (fits || markers_.has(field.text())) {
                ++column_.missing;
                continue;
            }
            if (!is_utf8(field.text())) return {k, Fault::not_utf8};
            column_.odd.push_back(static_cast<std::int64_t>(first + k));
        }
        return {fields.size()};
    }

    Column finish() override { return std::move(column_); }

private:
    Column column_;
    MissingMarkers markers_;
    NumberParser parser_;
};

class TextColumn final : public ColumnReader {
public:
    TextColumn(std::span<const std::string> missing, std::string_view data) : data_(data), markers_(missing) {
        column_.kind = Kind::text;
    }

    void resize(std::size_t records) override {
        column_.begins.resize(records);
        column_.sizes.resize(records);
    }

    StoreResult store(std::size_t first, std::span<const Field> fields) override {
        for (std::size_t k = 0; k < fields.size(); ++k) {
            const std::string_view text = fields[k].text();
            column_.begins[first + k] = 0;
            column_.sizes[first + k] = -1;
            if (markers_.has(text)) continue;
            if (!is_utf8(text)) return {k, Fault::not_utf8};
            column_.begins[first + k] = store_text(text);
            column_.sizes[first + k] = static_cast<std::int64_t>(text.size());
        }
        return {fields.size()};
    }

    Column finish() override { return std::move(column_); }

private:
    std::int64_t store_text(std::string_view text) {
        if (std::less_equal<>()(data_.data(), text.data()) && std::less<>()(text.data(), data_.data() + data_.size()))
            return text.data() - data_.data();
        column_.unescaped.append(text);
        return ~static_cast<std::int64_t>(column_.unescaped.size() - text.size());
    }

    std::string_view data_;
    Column column_;
    MissingMarkers markers_;
};

class CategoricalColumn final : public ColumnReader {
public:
    CategoricalColumn(Kind kind, std::span<const std::string> missing, const NumberFormat& format)
        : markers_(missing), parser_(format) {
        column_.kind = kind;
    }

    void resize(std::size_t records) override { column_.codes.resize(records); }

    StoreResult store(std::size_t first, std::span<const Field> fields) override {
        for (std::size_t k = 0; k < fields.size(); ++k) {
            std::int32_t& code = dictionary_.code(fields[k].text(), fields[k].is_padded);
            if (code == Dictionary::kNew) {
                if (const Fault fault = add_distinct(fields[k].text(), code); fault != Fault::none) return {k, fault};
            }
            column_.codes[first + k] = code;
        }
        return {fields.size()};
    }

    Column finish() override {
        if (column_.kind == Kind::any) infer_kind();
        merge_equal_values();
        return std::move(column_);
    }

private:
    // Assign a code to a value that was not seen before.
    Fault add_distinct(std::string_view text, std::int32_t& code) {
        code = -1;
        if (markers_.has(text) || (is_numeric(column_.kind) && markers_.has_number_of(text))) return Fault::none;
        if (!is_utf8(text)) return Fault::not_utf8;
        const auto new_code = static_cast<std::int32_t>(count_);
        if (column_.kind == Kind::string || column_.kind == Kind::any) {
            column_.texts.add(text);
        } else if (!add_value(column_.kind, text)) {
            return Fault::unfit;
        } else if (column_.kind == Kind::real && std::isnan(column_.reals.back())) {
            column_.reals.pop_back();
            return Fault::none;
        }
        ++count_;
        code = new_code;
        return Fault::none;
    }

    static bool is_numeric(Kind kind) { return kind == Kind::integer || kind == Kind::real; }

    bool add_value(Kind kind, std::string_view text) {
        if (kind == Kind::real) {
            double number = 0;
            if (!parser_.parse(text, false, number)) return false;
            // Adding zero turns -0.0 into 0.0, so that equal numbers have equal bits.
            column_.reals.push_back(number + 0.0);
            return true;
        }
        const auto value = kind == Kind::flag ? parse_bool(text) : parser_.parse_integer(text);
        if (value) column_.integers.push_back(*value);
        return value.has_value();
    }

    // Infer the narrowest kind that all values have.
    void infer_kind() {
        column_.kind = Kind::string;
        const std::vector<bool> marked = marked_numbers();
        if (std::find(marked.begin(), marked.end(), false) == marked.end()) return drop_all();
        if (has_codes(marked)) return;
        for (const Kind kind : {Kind::integer, Kind::flag, Kind::real}) {
            if (!try_convert(kind, marked)) continue;
            column_.kind = kind;
            column_.texts = Texts{};
            break;
        }
        if (column_.kind == Kind::integer) drop_missing(column_.integers, [&](std::size_t k) { return marked[k]; });
        if (column_.kind == Kind::real)
            drop_missing(column_.reals, [&](std::size_t k) { return marked[k] || std::isnan(column_.reals[k]); });
    }

    // The values that are missing markers if the column is numeric.
    std::vector<bool> marked_numbers() const {
        std::vector<bool> marked(count_);
        for (std::size_t k = 0; k < count_; ++k) marked[k] = markers_.has_number_of(column_.texts[k]);
        return marked;
    }

    // Whether leading zeros show that digits are codes, such as the postcode 01067.
    bool has_codes(const std::vector<bool>& marked) const {
        for (std::size_t k = 0; k < count_; ++k)
            if (!marked[k] && has_leading_zero(column_.texts[k])) return true;
        return false;
    }

    bool try_convert(Kind kind, const std::vector<bool>& marked) {
        for (std::size_t k = 0; k < count_; ++k) {
            if (kind == Kind::integer && marked[k]) column_.integers.push_back(0);  // dropped at the end
            else if (!add_value(kind, column_.texts[k])) {
                column_.integers.clear();
                column_.reals.clear();
                return false;
            }
        }
        return true;
    }

    void drop_all() {
        remap_codes(std::vector<std::int32_t>(count_, -1));
        column_.texts = Texts{};
    }

    template <class Value, class Test>
    void drop_missing(std::vector<Value>& values, Test is_missing) {
        std::vector<std::int32_t> new_codes(count_, -1);
        std::vector<Value> present_values;
        for (std::size_t k = 0; k < count_; ++k) {
            if (is_missing(k)) continue;
            new_codes[k] = static_cast<std::int32_t>(present_values.size());
            present_values.push_back(values[k]);
        }
        if (present_values.size() == count_) return;
        values = std::move(present_values);
        remap_codes(new_codes);
    }

    // Give equal values the same code: 1 may also be written as 01, true as True.
    void merge_equal_values() {
        const std::size_t count = std::max(column_.integers.size(), column_.reals.size());
        if (count == 0) return;
        std::vector<std::int64_t> keys = column_.integers;
        for (const double real : column_.reals) keys.push_back(std::bit_cast<std::int64_t>(real));
        const EncodedKeys merged = encode_keys({keys.data(), count, 1});
        if (merged.distinct.size() == count) return;
        if (column_.kind != Kind::real) {
            column_.integers = merged.distinct;
        } else {
            column_.reals.clear();
            for (const auto key : merged.distinct) column_.reals.push_back(std::bit_cast<double>(key));
        }
        remap_codes(merged.codes);
    }

    void remap_codes(std::span<const std::int32_t> new_codes) {
        for (auto& code : column_.codes)
            if (code >= 0) code = new_codes[static_cast<std::size_t>(code)];
    }

    Column column_;
    Dictionary dictionary_;
    MissingMarkers markers_;
    NumberParser parser_;
    std::size_t count_ = 0;  // distinct values
};

}  // namespace

std::unique_ptr<ColumnReader> make_reader(Kind kind, std::span<const std::string> missing, const NumberFormat& format,
                                          std::string_view data) {
    switch (kind) {
        case Kind::skip: return std::make_unique<SkippedColumn>();
        case Kind::number: return std::make_unique<NumberColumn>(missing, format);
        case Kind::text: return std::make_unique<TextColumn>(missing, data);
        default: return std::make_unique<CategoricalColumn>(kind, missing, format);
    }
}

}  // namespace weigh::csv
