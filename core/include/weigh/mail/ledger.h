// All that a mail filter has learned: rows by the keys of features, and the totals.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/mail/learner.h"
#include "weigh/mail/print.h"
#include "weigh/mail/slots.h"

namespace weigh::mail {

// What a feature adds to the log-odds of spam; the key zero is the view's bias.
struct Contribution {
    std::size_t view = 0;
    std::uint64_t key = 0;
    double nats = 0;
};

class Ledger {
public:
    // Counts of features must fit 32 bits, also of those that both views have.
    static constexpr std::uint64_t kMostMessages = (std::uint64_t{1} << 31) - 1;

    explicit Ledger(const Learner& learner) : learner_(&learner) {}
    // A saved ledger, of which learning changes the copy in memory only. Throws std::invalid_argument for a
    // file that is not in order and std::system_error for one that cannot be read. Of the rows only as many
    // are read as are asked for; `whole` reads and checks them all.
    static Ledger open(const std::string& path, bool whole);

    const Learner& learner() const { return *learner_; }
    const Totals& totals() const { return totals_; }
    const std::string& note() const { return note_; }
    // Looks at every slot.
    std::size_t features() const;

    // One byte per print: zero for ham, one for spam. Either all are learned or, refused with
    // std::invalid_argument, none; where memory runs out, the first of them may have been.
    void learn(std::span<const Print> prints, std::string_view spam);
    void unlearn(std::span<const Print> prints, std::string_view spam);

    // The log-odds of spam.
    void judge(std::span<const Print> prints, std::span<double> scores) const;
    // What the features that are known add, and the biases that are not zero.
    std::vector<Contribution> evidence(const Print& print) const;

    // The file, written into as much memory as `room` is asked for: equal rows, totals and notes make equal bytes.
    void image(std::string_view note, const std::function<char*(std::size_t)>& room) const;

private:
    bool unlearn(const Print& print, bool spam, std::vector<Row*>& rows);

    const Learner* learner_;
    Totals totals_;
    std::string note_;
    Slots slots_;
};

}  // namespace weigh::mail
