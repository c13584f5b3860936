#include "csv_columns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "csv_values.h"
#include "weigh/dictionary.h"
#include "weigh/encode.h"

namespace weigh::csv {
namespace {

class Markers {
public:
    explicit Markers(std::span<const std::string> texts) : texts_(texts.begin(), texts.end()) {
        double number = 0;
        numeric_ = std::any_of(texts.begin(), texts.end(), [&](const auto& t) { return to_number(t, false, number); });
    }

    bool has(std::string_view text) const {
        return text.empty() || std::find(texts_.begin(), texts_.end(), text) != texts_.end();
    }

    // Whether a number may be a marker, as -9 or 999.
    bool numeric() const { return numeric_; }

private:
    std::vector<std::string> texts_;
    bool numeric_ = false;
};

class Skipped final : public Reader {
public:
    void resize(std::size_t) override {}
    Taken take(std::size_t, std::span<const Field> fields) override { return {fields.size()}; }
    Column finish() override { return {}; }
};

class Numbers final : public Reader {
public:
    explicit Numbers(std::span<const std::string> missing) : markers_(missing) { column_.kind = Kind::number; }

    void resize(std::size_t records) override { column_.numbers.resize(records); }

    Taken take(std::size_t first, std::span<const Field> fields) override {
        double* number = column_.numbers.data() + first;
        for (std::size_t k = 0; k < fields.size(); ++k, ++number) {
            const Field& field = fields[k];
            if (!markers_.numeric() && to_number(field.text(), field.roomy, *number)) continue;
            if (markers_.has(field.text())) *number = std::numeric_limits<double>::quiet_NaN();
            else if (!to_number(field.text(), field.roomy, *number)) return {k, Fault::unfit};
        }
        return {fields.size()};
    }

    Column finish() override { return std::move(column_); }

private:
    Column column_;
    Markers markers_;
};

class WholeTexts final : public Reader {
public:
    explicit WholeTexts(std::span<const std::string> missing) : markers_(missing) { column_.kind = Kind::text; }

    void resize(std::size_t records) override { column_.codes.resize(records); }

    Taken take(std::size_t first, std::span<const Field> fields) override {
        for (std::size_t k = 0; k < fields.size(); ++k) {
            const std::string_view text = fields[k].text();
            column_.codes[first + k] = -1;
            if (markers_.has(text)) continue;
            if (!is_utf8(text)) return {k, Fault::not_utf8};
            column_.codes[first + k] = static_cast<std::int32_t>(column_.texts.size());
            column_.texts.add(text);
        }
        return {fields.size()};
    }

    Column finish() override { return std::move(column_); }

private:
    Column column_;
    Markers markers_;
};

class Coded final : public Reader {
public:
    Coded(Kind kind, std::span<const std::string> missing) : markers_(missing) { column_.kind = kind; }

    void resize(std::size_t records) override { column_.codes.resize(records); }

    Taken take(std::size_t first, std::span<const Field> fields) override {
        for (std::size_t k = 0; k < fields.size(); ++k) {
            std::int32_t& code = dictionary_.code(fields[k].text(), fields[k].roomy);
            if (code == Dictionary::kNew) {
                if (const Fault fault = meet(fields[k].text(), code); fault != Fault::none) return {k, fault};
            }
            column_.codes[first + k] = code;
        }
        return {fields.size()};
    }

    Column finish() override {
        if (column_.kind == Kind::any) settle();
        unite();
        return std::move(column_);
    }

private:
    // Give a value that has not been met before its code.
    Fault meet(std::string_view text, std::int32_t& code) {
        code = -1;
        if (markers_.has(text)) return Fault::none;
        if (!is_utf8(text)) return Fault::not_utf8;
        const auto fresh = static_cast<std::int32_t>(count_);
        if (column_.kind == Kind::string || column_.kind == Kind::any) {
            column_.texts.add(text);
        } else if (!add_value(column_.kind, text)) {
            return Fault::unfit;
        } else if (column_.kind == Kind::real && std::isnan(column_.reals.back())) {
            column_.reals.pop_back();
            return Fault::none;
        }
        ++count_;
        code = fresh;
        return Fault::none;
    }

    bool add_value(Kind kind, std::string_view text) {
        if (kind == Kind::real) {
            double number = 0;
            if (!to_number(text, false, number)) return false;
            // Adding zero turns -0.0 into 0.0, so that equal numbers have equal bits.
            column_.reals.push_back(number + 0.0);
            return true;
        }
        const auto value = kind == Kind::flag ? to_flag(text) : to_integer(text);
        if (value) column_.integers.push_back(*value);
        return value.has_value();
    }

    // Find the narrowest kind that all values have.
    void settle() {
        column_.kind = Kind::string;
        for (const Kind kind : {Kind::integer, Kind::flag, Kind::real}) {
            if (count_ == 0 || !converts(kind)) continue;
            column_.kind = kind;
            column_.texts = Texts{};
            break;
        }
        if (column_.kind == Kind::real) drop_nan();
    }

    bool converts(Kind kind) {
        for (std::size_t k = 0; k < column_.texts.size(); ++k) {
            if (add_value(kind, column_.texts[k])) continue;
            column_.integers.clear();
            column_.reals.clear();
            return false;
        }
        return true;
    }

    void drop_nan() {
        std::vector<std::int32_t> place(count_, -1);
        std::vector<double> kept;
        for (std::size_t k = 0; k < count_; ++k) {
            if (std::isnan(column_.reals[k])) continue;
            place[k] = static_cast<std::int32_t>(kept.size());
            kept.push_back(column_.reals[k]);
        }
        if (kept.size() == count_) return;
        column_.reals = std::move(kept);
        move(place);
    }

    // Give equal values one code: 1 may also be written 01, true also True.
    void unite() {
        const std::size_t count = std::max(column_.integers.size(), column_.reals.size());
        if (count == 0) return;
        std::vector<std::int64_t> keys = column_.integers;
        for (const double real : column_.reals) keys.push_back(std::bit_cast<std::int64_t>(real));
        const Encoded united = encode_keys({keys.data(), count, 1});
        if (united.distinct.size() == count) return;
        if (column_.kind != Kind::real) {
            column_.integers = united.distinct;
        } else {
            column_.reals.clear();
            for (const auto key : united.distinct) column_.reals.push_back(std::bit_cast<double>(key));
        }
        move(united.codes);
    }

    void move(std::span<const std::int32_t> place) {
        for (auto& code : column_.codes)
            if (code >= 0) code = place[static_cast<std::size_t>(code)];
    }

    Column column_;
    Dictionary dictionary_;
    Markers markers_;
    std::size_t count_ = 0;  // distinct values
};

}  // namespace

std::unique_ptr<Reader> reader(Kind kind, std::span<const std::string> missing) {
    switch (kind) {
        case Kind::skip: return std::make_unique<Skipped>();
        case Kind::number: return std::make_unique<Numbers>(missing);
        case Kind::text: return std::make_unique<WholeTexts>(missing);
        default: return std::make_unique<Coded>(kind, missing);
    }
}

}  // namespace weigh::csv
