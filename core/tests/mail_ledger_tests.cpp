// Tests of the ledger: learning, the file format, and rejected input.
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
#include <thread>
#include <vector>

#include "expect.h"

using namespace weigh::mail;

namespace {

constexpr std::string_view kNames[] = {"naive-bayes", "logistic", "perceptron"};

template <class Function>
bool is_rejected(Function function) {
    try {
        function();
    } catch (const std::invalid_argument&) {
        return true;
    } catch (const DamagedFile&) {
        return true;
    }
    return false;
}

template <class Number>
void append_number(std::string& bytes, Number number) {
    for (std::size_t byte = 0; byte < sizeof number; ++byte)
        bytes.push_back(static_cast<char>(number >> (8 * byte) & 0xFF));
}

std::string serialize_features(const std::set<std::uint64_t>& headers, const std::set<std::uint64_t>& body) {
    std::string bytes;
    append_number(bytes, static_cast<std::uint32_t>(headers.size()));
    append_number(bytes, static_cast<std::uint32_t>(body.size()));
    for (const auto* view : {&headers, &body})
        for (const std::uint64_t key : *view) append_number(bytes, key);
    return bytes;
}

std::string serialize_ledger(const Ledger& ledger, std::string_view note) {
    std::string image;
    ledger.serialize(note, [&](std::size_t size) {
        image.resize(size, '?');
        return image.data();
    });
    return image;
}

// Random hashed features with keys from a small range, and their labels.
struct RandomMessages {
    std::vector<std::string> bytes;
    std::vector<HashedFeatures> messages;
    std::string spam;

    RandomMessages(Random& random, std::size_t number, std::uint64_t world) {
        for (std::size_t at = 0; at < number; ++at) {
            std::set<std::uint64_t> views[kViews];
            for (auto& view : views)
                for (std::uint64_t more = random() % 12; more > 0; --more) view.insert(1 + random() % world);
            bytes.push_back(serialize_features(views[0], views[1]));
            spam.push_back(static_cast<char>(random() % 2));
        }
        for (const std::string& each : bytes) messages.emplace_back(each);
    }
};

std::vector<double> scores_of(const Ledger& ledger, std::span<const HashedFeatures> messages) {
    std::vector<double> scores(messages.size());
    ledger.judge(messages, scores);
    return scores;
}

class TemporaryFile {
public:
    TemporaryFile() {
        const std::string name = "weigh-ledger-" + std::to_string(std::random_device()());
        path_ = (std::filesystem::temp_directory_path() / name).string();
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    const std::string& path() const { return path_; }
    void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
    std::string read() const {
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

private:
    std::string path_;
};

void hashed_features_are_validated() {
    EXPECT(is_rejected([] { HashedFeatures(""); }));
    EXPECT(is_rejected([] { HashedFeatures(std::string(7, '\0')); }));
    EXPECT(HashedFeatures(serialize_features({}, {})).size() == 0);
    const std::string good = serialize_features({1, 5}, {2, ~std::uint64_t{0}});
    EXPECT(HashedFeatures(good)[0].size() == 2 && HashedFeatures(good)[1][1] == ~std::uint64_t{0});
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT(is_rejected([&] { HashedFeatures(good.substr(0, size)); }));
    EXPECT(is_rejected([&] { HashedFeatures(good + "x"); }));
    EXPECT(is_rejected([] { HashedFeatures(serialize_features({0, 1}, {})); }));
    std::string falls = serialize_features({}, {}), twice;
    falls[0] = 2;
    twice = falls;
    append_number(falls, std::uint64_t{5});
    append_number(falls, std::uint64_t{4});
    append_number(twice, std::uint64_t{5});
    append_number(twice, std::uint64_t{5});
    EXPECT(is_rejected([&] { HashedFeatures{falls}; }));
    EXPECT(is_rejected([&] { HashedFeatures{twice}; }));
    // Key counts whose total size would overflow 32 bits.
    EXPECT(is_rejected([] { HashedFeatures(std::string(8, '\xFF')); }));
}

void counts_are_independent_of_order() {
    Random random(1);
    const RandomMessages mails(random, 200, 500);
    Ledger forward(learner_by_name("naive-bayes")), backward(learner_by_name("naive-bayes"));
    forward.learn(mails.messages, mails.spam);
    for (std::size_t at = mails.messages.size(); at-- > 0;)
        backward.learn({&mails.messages[at], 1}, std::string_view(mails.spam).substr(at, 1));
    EXPECT(serialize_ledger(forward, "") == serialize_ledger(backward, ""));
}

void unlearning_undoes_learning() {
    Random random(2);
    const RandomMessages kept(random, 50, 300), gone(random, 80, 3000);
    Ledger plain(learner_by_name("naive-bayes")), changed(learner_by_name("naive-bayes"));
    plain.learn(kept.messages, kept.spam);
    changed.learn(gone.messages, gone.spam);
    changed.learn(kept.messages, kept.spam);
    EXPECT(serialize_ledger(plain, "") != serialize_ledger(changed, ""));
    changed.unlearn(gone.messages, gone.spam);
    EXPECT(serialize_ledger(plain, "") == serialize_ledger(changed, ""));
    EXPECT(plain.features() == changed.features());
    changed.unlearn(kept.messages, kept.spam);
    EXPECT(serialize_ledger(changed, "") == serialize_ledger(Ledger(learner_by_name("naive-bayes")), ""));
}

void rejected_batches_change_nothing() {
    Random random(3);
    const RandomMessages mails(random, 20, 100), others(random, 5, 1000);
    Ledger ledger(learner_by_name("naive-bayes"));
    ledger.learn(mails.messages, mails.spam);
    const std::string before = serialize_ledger(ledger, "");
    std::vector<HashedFeatures> mixed = mails.messages;
    mixed.push_back(others.messages[0]);
    std::string labels = mails.spam + others.spam[0];
    EXPECT(is_rejected([&] { ledger.unlearn(mixed, labels); }));
    EXPECT(serialize_ledger(ledger, "") == before);
    EXPECT(is_rejected([&] { ledger.learn(mixed, mails.spam); }));
    labels.back() = 2;
    EXPECT(is_rejected([&] { ledger.learn(mixed, labels); }));
    EXPECT(serialize_ledger(ledger, "") == before);
    for (const std::string_view name : {"logistic", "perceptron"}) {
        Ledger sorted(learner_by_name(name));
        sorted.learn(mails.messages, mails.spam);
        EXPECT(is_rejected([&] { sorted.unlearn(mails.messages, mails.spam); }));
    }
    EXPECT(is_rejected([] { learner_by_name("none"); }));
}

void contributions_sum_to_the_score() {
    Random random(4);
    const RandomMessages learned(random, 100, 200), asked(random, 50, 400);
    for (const std::string_view name : kNames) {
        Ledger ledger(learner_by_name(name));
        ledger.learn(learned.messages, learned.spam);
        const std::vector<double> scores = scores_of(ledger, asked.messages);
        for (std::size_t at = 0; at < scores.size(); ++at) {
            double sum = 0;
            for (const Contribution& part : ledger.evidence(asked.messages[at])) sum += part.nats;
            EXPECT(std::abs(sum - scores[at]) < 1e-9);
            EXPECT(scores_of(ledger, {&asked.messages[at], 1})[0] == scores[at]);
        }
    }
}

void files_restore_the_ledger() {
    Random random(5);
    const RandomMessages first(random, 100, 1000), later(random, 3000, 100000);
    const TemporaryFile file;
    for (const std::string_view name : kNames) {
        Ledger ledger(learner_by_name(name));
        ledger.learn(first.messages, first.spam);
        const std::string image = serialize_ledger(ledger, "a note");
        file.write(image);
        Ledger opened = Ledger::open(file.path(), true);
        EXPECT(opened.note() == "a note" && opened.learner().name() == name);
        EXPECT(serialize_ledger(opened, "a note") == image);
        EXPECT(scores_of(opened, later.messages) == scores_of(ledger, later.messages));
        // Far more than the file has room for.
        opened.learn(later.messages, later.spam);
        ledger.learn(later.messages, later.spam);
        EXPECT(serialize_ledger(opened, "") == serialize_ledger(ledger, ""));
        EXPECT(file.read() == image);
    }
}

void truncated_files_are_rejected() {
    Random random(6);
    const RandomMessages mails(random, 10, 30);
    const TemporaryFile file;
    Ledger ledger(learner_by_name("naive-bayes"));
    ledger.learn(mails.messages, mails.spam);
    const std::string image = serialize_ledger(ledger, "note");
    for (std::size_t size = 0; size < image.size(); ++size) {
        file.write(image.substr(0, size));
        EXPECT(is_rejected([&] { Ledger::open(file.path(), false); }));
    }
    file.write(image + "x");
    EXPECT(is_rejected([&] { Ledger::open(file.path(), false); }));
    bool is_system = false;
    try {
        Ledger::open(file.path() + "-none", false);
    } catch (const std::system_error& error) {
        is_system = error.code() == std::errc::no_such_file_or_directory;
    }
    EXPECT(is_system);
}

// Whichever byte is damaged, everything that reads it reports the damage.
void damaged_files_are_rejected() {
    Random random(7);
    const RandomMessages mails(random, 10, 30);
    const TemporaryFile file;
    for (const std::string_view name : kNames) {
        Ledger ledger(learner_by_name(name));
        ledger.learn(mails.messages, mails.spam);
        const std::string image = serialize_ledger(ledger, "note");
        for (std::size_t at = 0; at < image.size(); ++at) {
            std::string bad = image;
            bad[at] = static_cast<char>(bad[at] ^ (at % 2 ? 0xFF : 1 << random() % 8));
            file.write(bad);
            EXPECT(is_rejected([&] { Ledger::open(file.path(), true); }));
            const bool in_slots = at >= BlockLoader::kBlockSize && at < image.size() - sizeof(std::uint64_t);
            EXPECT(in_slots != is_rejected([&] { Ledger::open(file.path(), false); }));
            if (!in_slots) continue;
            Ledger opened = Ledger::open(file.path(), false);
            EXPECT(is_rejected([&] { scores_of(opened, mails.messages); }));
            EXPECT(is_rejected([&] { opened.learn(mails.messages, mails.spam); }));
            EXPECT(is_rejected([&] { serialize_ledger(opened, ""); }));
        }
    }
}

// Threads that load the same blocks at once get the same rows.
void blocks_are_loaded_by_several_threads() {
    Random random(8);
    const RandomMessages mails(random, 3000, 100000);
    const TemporaryFile file;
    Ledger ledger(learner_by_name("naive-bayes"));
    ledger.learn(mails.messages, mails.spam);
    file.write(serialize_ledger(ledger, ""));
    const std::vector<double> expected = scores_of(ledger, mails.messages);
    const Ledger opened = Ledger::open(file.path(), false);
    std::vector<std::vector<double>> scores(4);
    std::vector<std::thread> threads;
    for (auto& each : scores) threads.emplace_back([&] { each = scores_of(opened, mails.messages); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& each : scores) EXPECT(each == expected);
}

void the_load_factor_is_bounded() {
    Random random(9);
    const RandomMessages mails(random, 2000, ~std::uint64_t{0} >> 1);
    Ledger ledger(learner_by_name("naive-bayes"));
    ledger.learn(mails.messages, mails.spam);
    for (std::size_t keys : {0, 1, 9, 10, 19, 20, 1000, 614, 615})
        EXPECT(5 * keys <= 3 * RowTable::capacity_for(keys) && std::has_single_bit(RowTable::capacity_for(keys)));
    EXPECT(RowTable::capacity_for(9) == 16 && RowTable::capacity_for(10) == 32);
    std::set<std::uint64_t> keys;
    for (const HashedFeatures& message : mails.messages)
        for (std::size_t view = 0; view < kViews; ++view)
            for (std::size_t at = 0; at < message[view].size(); ++at) keys.insert(message[view][at]);
    EXPECT(ledger.features() == keys.size());
}

}  // namespace

int main() {
    hashed_features_are_validated();
    counts_are_independent_of_order();
    unlearning_undoes_learning();
    rejected_batches_change_nothing();
    contributions_sum_to_the_score();
    files_restore_the_ledger();
    truncated_files_are_rejected();
    damaged_files_are_rejected();
    blocks_are_loaded_by_several_threads();
    the_load_factor_is_bounded();
    return report();
}
