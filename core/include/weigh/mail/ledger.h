// Ledger: everything that a mail filter has learned, as rows by feature key and totals.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/mail/learner.h"
#include "weigh/mail/hashed_features.h"
#include "weigh/mail/row_table.h"

namespace weigh::mail {

// Contribution of a feature to the log-odds of spam; key zero is the bias of the view.
struct Contribution {
    std::size_t view = 0;
    std::uint64_t key = 0;
    double nats = 0;  // log-odds, natural logarithm
};

class Ledger {
public:
    // Feature counts must fit into 32 bits, even for a feature in both views.
    static constexpr std::uint64_t kMaxMessages = (std::uint64_t{1} << 31) - 1;

    explicit Ledger(const Learner& learner) : learner_(&learner) {}
    // Open a saved ledger; learning changes only the copy in memory. Throws std::invalid_argument if its header is
    // invalid, DamagedFile if other bytes are damaged, and std::system_error if it cannot be read. Rows are read and
    // verified on demand, so that every other function may throw DamagedFile too; `verify_rows` verifies all of them now.
    static Ledger open(const std::string& path, bool verify_rows);

    const Learner& learner() const { return *learner_; }
    const Totals& totals() const { return totals_; }
    // Text that was saved with the ledger, for the caller's own use; empty for a new one.
    const std::string& note() const { return note_; }
    // Number of features with non-empty rows; O(capacity).
    std::size_t features() const;

    // Learn or unlearn messages, with one label byte per message: 0 for ham, 1 for spam. On std::invalid_argument
    // nothing is changed; if memory runs out, some messages may have been learned.
    void learn(std::span<const HashedFeatures> messages, std::string_view labels);
    void unlearn(std::span<const HashedFeatures> messages, std::string_view labels);

    // Write the log-odds of spam (natural logarithm), one score per message.
    void judge(std::span<const HashedFeatures> messages, std::span<double> scores) const;
    // Contributions of the known features and of non-zero biases.
    std::vector<Contribution> evidence(const HashedFeatures& features) const;

    // Write the file image to memory provided by `allocate`. Equal rows, totals and notes give equal bytes.
    void serialize(std::string_view note, const std::function<char*(std::size_t)>& allocate) const;

private:
    bool unlearn(const HashedFeatures& features, bool spam, std::vector<Row*>& rows);

    const Learner* learner_;
    Totals totals_;
    std::string note_;
    RowTable table_;
};

}  // namespace weigh::mail
