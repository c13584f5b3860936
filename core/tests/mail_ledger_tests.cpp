// The ledger of the mail filter: what it learns, what it stores, and what it refuses.
#include "weigh/mail/ledger.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "expect.h"

using namespace weigh::mail;

namespace {

constexpr std::string_view kNames[] = {"naive-bayes", "logistic", "perceptron"};

template <class Function>
bool refuses(Function function) {
    try {
        function();
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

template <class Number>
void put(std::string& bytes, Number number) {
    for (std::size_t byte = 0; byte < sizeof number; ++byte)
        bytes.push_back(static_cast<char>(number >> (8 * byte) & 0xFF));
}

std::string print_of(const std::set<std::uint64_t>& headers, const std::set<std::uint64_t>& body) {
    std::string bytes;
    put(bytes, static_cast<std::uint32_t>(headers.size()));
    put(bytes, static_cast<std::uint32_t>(body.size()));
    for (const auto* view : {&headers, &body})
        for (const std::uint64_t key : *view) put(bytes, key);
    return bytes;
}

std::string image_of(const Ledger& ledger, std::string_view note) {
    std::string image;
    ledger.serialize(note, [&](std::size_t size) {
        image.resize(size, '?');
        return image.data();
    });
    return image;
}

// Prints of keys from a small world, and their labels.
struct Mails {
    std::vector<std::string> bytes;
    std::vector<HashedFeatures> hash_features;
    std::string spam;

    Mails(Random& random, std::size_t number, std::uint64_t world) {
        for (std::size_t at = 0; at < number; ++at) {
            std::set<std::uint64_t> views[kViews];
            for (auto& view : views)
                for (std::uint64_t more = random() % 12; more > 0; --more) view.insert(1 + random() % world);
            bytes.push_back(print_of(views[0], views[1]));
            spam.push_back(static_cast<char>(random() % 2));
        }
        for (const std::string& each : bytes) hash_features.emplace_back(each);
    }
};

std::vector<double> judged(const Ledger& ledger, std::span<const HashedFeatures> hash_features) {
    std::vector<double> scores(hash_features.size());
    ledger.judge(hash_features, scores);
    return scores;
}

class Temporary {
public:
    Temporary() {
        const std::string name = "weigh-ledger-" + std::to_string(std::random_device()());
        path_ = (std::filesystem::temp_directory_path() / name).string();
    }
    ~Temporary() { std::filesystem::remove(path_); }
    const std::string& path() const { return path_; }
    void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
    std::string read() const {
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

private:
    std::string path_;
};

void prints_are_checked() {
    EXPECT(refuses([] { HashedFeatures(""); }));
    EXPECT(refuses([] { HashedFeatures(std::string(7, '\0')); }));
    EXPECT(HashedFeatures(print_of({}, {})).size() == 0);
    const std::string good = print_of({1, 5}, {2, ~std::uint64_t{0}});
    EXPECT(HashedFeatures(good)[0].size() == 2 && HashedFeatures(good)[1][1] == ~std::uint64_t{0});
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT(refuses([&] { HashedFeatures(good.substr(0, size)); }));
    EXPECT(refuses([&] { HashedFeatures(good + "x"); }));
    EXPECT(refuses([] { HashedFeatures(print_of({0, 1}, {})); }));
    std::string falls = print_of({}, {}), twice;
    falls[0] = 2;
    twice = falls;
    put(falls, std::uint64_t{5});
    put(falls, std::uint64_t{4});
    put(twice, std::uint64_t{5});
    put(twice, std::uint64_t{5});
    EXPECT(refuses([&] { HashedFeatures{falls}; }));
    EXPECT(refuses([&] { HashedFeatures{twice}; }));
    // Numbers of keys whose sum of bytes would not fit 32 bits.
    EXPECT(refuses([] { HashedFeatures(std::string(8, '\xFF')); }));
}

void counts_do_not_know_the_order() {
    Random random(1);
    const Mails mails(random, 200, 500);
    Ledger forward(learner_by_name("naive-bayes")), backward(learner_by_name("naive-bayes"));
    forward.learn(mails.hash_features, mails.spam);
    for (std::size_t at = mails.hash_features.size(); at-- > 0;)
        backward.learn({&mails.hash_features[at], 1}, std::string_view(mails.spam).substr(at, 1));
    EXPECT(image_of(forward, "") == image_of(backward, ""));
}

void unlearned_is_never_learned() {
    Random random(2);
    const Mails kept(random, 50, 300), gone(random, 80, 3000);
    Ledger plain(learner_by_name("naive-bayes")), changed(learner_by_name("naive-bayes"));
    plain.learn(kept.hash_features, kept.spam);
    changed.learn(gone.hash_features, gone.spam);
    changed.learn(kept.hash_features, kept.spam);
    EXPECT(image_of(plain, "") != image_of(changed, ""));
    changed.unlearn(gone.hash_features, gone.spam);
    EXPECT(image_of(plain, "") == image_of(changed, ""));
    EXPECT(plain.features() == changed.features());
    changed.unlearn(kept.hash_features, kept.spam);
    EXPECT(image_of(changed, "") == image_of(Ledger(learner_by_name("naive-bayes")), ""));
}

void refused_batches_change_nothing() {
    Random random(3);
    const Mails mails(random, 20, 100), others(random, 5, 1000);
    Ledger ledger(learner_by_name("naive-bayes"));
    ledger.learn(mails.hash_features, mails.spam);
    const std::string before = image_of(ledger, "");
    std::vector<HashedFeatures> mixed = mails.hash_features;
    mixed.push_back(others.hash_features[0]);
    std::string labels = mails.spam + others.spam[0];
    EXPECT(refuses([&] { ledger.unlearn(mixed, labels); }));
    EXPECT(image_of(ledger, "") == before);
    EXPECT(refuses([&] { ledger.learn(mixed, mails.spam); }));
    labels.back() = 2;
    EXPECT(refuses([&] { ledger.learn(mixed, labels); }));
    EXPECT(image_of(ledger, "") == before);
    for (const std::string_view name : {"logistic", "perceptron"}) {
        Ledger sorted(learner_by_name(name));
        sorted.learn(mails.hash_features, mails.spam);
        EXPECT(refuses([&] { sorted.unlearn(mails.hash_features, mails.spam); }));
    }
    EXPECT(refuses([] { learner_by_name("none"); }));
}

void evidence_adds_up() {
    Random random(4);
    const Mails learned(random, 100, 200), asked(random, 50, 400);
    for (const std::string_view name : kNames) {
        Ledger ledger(learner_by_name(name));
        ledger.learn(learned.hash_features, learned.spam);
        const std::vector<double> scores = judged(ledger, asked.hash_features);
        for (std::size_t at = 0; at < scores.size(); ++at) {
            double sum = 0;
            for (const Contribution& part : ledger.evidence(asked.hash_features[at])) sum += part.nats;
            EXPECT(std::abs(sum - scores[at]) < 1e-9);
            EXPECT(judged(ledger, {&asked.hash_features[at], 1})[0] == scores[at]);
        }
    }
}

void files_hold_what_was_learned() {
    Random random(5);
    const Mails first(random, 100, 1000), later(random, 3000, 100000);
    const Temporary file;
    for (const std::string_view name : kNames) {
        Ledger ledger(learner_by_name(name));
        ledger.learn(first.hash_features, first.spam);
        const std::string image = image_of(ledger, "a note");
        file.write(image);
        Ledger opened = Ledger::open(file.path(), true);
        EXPECT(opened.note() == "a note" && opened.learner().name() == name);
        EXPECT(image_of(opened, "a note") == image);
        EXPECT(judged(opened, later.hash_features) == judged(ledger, later.hash_features));
        // Far more than the file has room for.
        opened.learn(later.hash_features, later.spam);
        ledger.learn(later.hash_features, later.spam);
        EXPECT(image_of(opened, "") == image_of(ledger, ""));
        EXPECT(file.read() == image);
    }
}

void short_files_are_refused() {
    Random random(6);
    const Mails mails(random, 10, 30);
    const Temporary file;
    Ledger ledger(learner_by_name("naive-bayes"));
    ledger.learn(mails.hash_features, mails.spam);
    const std::string image = image_of(ledger, "note");
    for (std::size_t size = 0; size < image.size(); ++size) {
        file.write(image.substr(0, size));
        EXPECT(refuses([&] { Ledger::open(file.path(), false); }));
    }
    file.write(image + "x");
    EXPECT(refuses([&] { Ledger::open(file.path(), false); }));
    bool is_system = false;
    try {
        Ledger::open(file.path() + "-none", false);
    } catch (const std::system_error& error) {
        is_system = error.code() == std::errc::no_such_file_or_directory;
    }
    EXPECT(is_system);
}

// Whatever byte is damaged: a file is refused, or judged by and learned on within its bounds.
void damaged_files_are_survived() {
    Random random(7);
    const Mails mails(random, 10, 30), more(random, 60, 5000);
    const Temporary file;
    for (const std::string_view name : kNames) {
        Ledger ledger(learner_by_name(name));
        ledger.learn(mails.hash_features, mails.spam);
        const std::string image = image_of(ledger, "note");
        const std::size_t slots = image.size() - 4 - 16 * RowTable::capacity_for(ledger.features());
        for (std::size_t at = 0; at < image.size(); ++at) {
            std::string bad = image;
            bad[at] = static_cast<char>(bad[at] ^ (at % 2 ? 0xFF : 1 << random() % 8));
            file.write(bad);
            EXPECT(refuses([&] { Ledger::open(file.path(), true); }));
            const bool in_slots = at >= slots && at < image.size() - 4;
            EXPECT(in_slots != refuses([&] { Ledger::open(file.path(), false); }));
            if (!in_slots) continue;
            Ledger opened = Ledger::open(file.path(), false);
            opened.learn(more.hash_features, more.spam);
            for (const double score : judged(opened, mails.hash_features)) EXPECT(std::isfinite(score));
            image_of(opened, "");
        }
    }
}

// Slots that are all taken, of the same key even: no search ends by a free one.
void full_files_are_survived() {
    Random random(8);
    const Mails mails(random, 10, 30), more(random, 20, 5000);
    const Temporary file;
    for (const std::string_view name : kNames) {
        Ledger ledger(learner_by_name(name));
        ledger.learn(mails.hash_features, mails.spam);
        std::string image = image_of(ledger, "");
        const std::size_t slots = image.size() - 16 * RowTable::capacity_for(ledger.features());
        for (const bool same : {false, true}) {
            for (std::size_t at = slots; at < image.size(); ++at)
                image[at] = same ? '\xFF' : static_cast<char>(random());
            file.write(image);
            Ledger opened = Ledger::open(file.path(), false);
            for (const double score : judged(opened, more.hash_features)) EXPECT(std::isfinite(score));
            opened.learn(more.hash_features, more.spam);
            for (const double score : judged(opened, more.hash_features)) EXPECT(std::isfinite(score));
            image_of(opened, "");
        }
    }
}

void tables_keep_their_load() {
    Random random(9);
    const Mails mails(random, 2000, ~std::uint64_t{0} >> 1);
    Ledger ledger(learner_by_name("naive-bayes"));
    ledger.learn(mails.hash_features, mails.spam);
    for (std::size_t keys : {0, 1, 9, 10, 19, 20, 1000, 614, 615})
        EXPECT(5 * keys <= 3 * RowTable::capacity_for(keys) && std::has_single_bit(RowTable::capacity_for(keys)));
    EXPECT(RowTable::capacity_for(9) == 16 && RowTable::capacity_for(10) == 32);
    std::set<std::uint64_t> keys;
    for (const HashedFeatures& print : mails.hash_features)
        for (std::size_t view = 0; view < kViews; ++view)
            for (std::size_t at = 0; at < print[view].size(); ++at) keys.insert(print[view][at]);
    EXPECT(ledger.features() == keys.size());
}

}  // namespace

int main() {
    prints_are_checked();
    counts_do_not_know_the_order();
    unlearned_is_never_learned();
    refused_batches_change_nothing();
    evidence_adds_up();
    files_hold_what_was_learned();
    short_files_are_refused();
    damaged_files_are_survived();
    full_files_are_survived();
    tables_keep_their_load();
    return told();
}
