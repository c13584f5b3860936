// Coordinate descent: one weight after the other is set to where the penalised objective is least along it.
//
// The penalty is Σ l1ⱼ |wⱼ| + ½ Σ l2ⱼ wⱼ² throughout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weigh {

struct Penalties {
    std::span<const double> l1, l2;
};

struct Descent {
    std::size_t sweeps = 0;
    double gap = 0;  // the objective is at most this far above its minimum
};

// Squared loss of which only the moments are known: ½ yy − cᵀw + ½ wᵀGw, with G symmetric.
struct Quadratic {
    std::span<const double> gram, cross;
    double yy = 0;
};

// How far the objective may be above its minimum, by the residual scaled until it is a dual point. `q` is
// c − Gw. Features without any penalty are expected to have been taken out.
double gram_gap(const Quadratic& loss, const Penalties& penalties, std::span<const double> w,
                std::span<const double> q);

// Sweep over all features until the gap is below `tol`; w and q = c − Gw are changed together.
Descent descend_gram(const Quadratic& loss, const Penalties& penalties, double tol, std::size_t most,
                     std::span<double> w, std::span<double> q);

}  // namespace weigh
