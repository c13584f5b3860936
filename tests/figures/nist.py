"""NIST's Statistical Reference Datasets for linear regression (StRD): figures and certified weights.

Wampler's polynomials are defined by formulas; the noise of the third to fifth is orthogonal to all columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.figures.test_longley import INTERCEPT, LONGLEY, WEIGHTS

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReferenceSet:
    """Columns, targets, and the certified weights, that of the constant first."""

    X: Floats
    y: Floats
    certified: Floats


def powers(x: Floats, degree: int) -> Floats:
    """Return x, x², … in double precision."""
    return np.column_stack([x**k for k in range(1, degree + 1)])


NORRIS_X = """0.2 337.4 118.2 884.6 10.1 226.5 666.3 996.3 448.6 777.0 558.2 0.4 0.6 775.5 666.9 338.0 447.5
11.6 556.0 228.1 995.8 887.6 120.2 0.3 0.3 556.8 339.1 887.2 999.0 779.0 11.1 118.3 229.2 669.1 448.9 0.5"""
NORRIS_Y = """0.1 338.8 118.1 888.0 9.2 228.1 668.5 998.5 449.1 778.9 559.2 0.3 0.1 778.1 668.8 339.3 448.9
10.8 557.7 228.3 998.0 888.8 119.6 0.3 0.6 557.6 339.3 888.0 998.5 778.9 10.2 117.6 228.9 668.4 449.2 0.2"""
PONTIUS_Y = """.11019 .21956 .32949 .43899 .54803 .65694 .76562 .87487 .98292 1.09146 1.20001 1.30822 1.41599
1.52399 1.63194 1.73947 1.84646 1.95392 2.06128 2.16844 .11052 .22018 .32939 .43886 .54798 .65739 .76596
.87474 .98300 1.09150 1.20004 1.30818 1.41613 1.52408 1.63159 1.73965 1.84696 1.95445 2.06177 2.16829"""
FILIP_X = """-6.860120914 -4.324130045 -4.358625055 -4.358426747 -6.955852379 -6.661145254 -6.355462942
-6.118102026 -7.115148017 -6.815308569 -6.519993057 -6.204119983 -5.853871964 -6.109523091 -5.79832982
-5.482672118 -5.171791386 -4.851705903 -4.517126416 -4.143573228 -3.709075441 -3.499489089 -6.300769497
-5.953504836 -5.642065153 -5.031376979 -4.680685696 -4.329846955 -3.928486195 -8.56735134 -8.363211311
-8.107682739 -7.823908741 -7.522878745 -7.218819279 -6.920818754 -6.628932138 -6.323946875 -5.991399828
-8.781464495 -8.663140179 -8.473531488 -8.247337057 -7.971428747 -7.676129393 -7.352812702 -7.072065318
-6.774174009 -6.478861916 -6.159517513 -6.835647144 -6.53165267 -6.224098421 -5.910094889 -5.598599459
-5.290645224 -4.974284616 -4.64454848 -4.290560426 -3.885055584 -3.408378962 -3.13200249 -8.726767166
-8.66695597 -8.511026475 -8.165388579 -7.886056648 -7.588043762 -7.283412422 -6.995678626 -6.691862621
-6.392544977 -6.067374056 -6.684029655 -6.378719832 -6.065855188 -5.752272167 -5.132414673 -4.811352704
-4.098269308 -3.66174277 -3.2644011"""
FILIP_Y = """0.8116 0.9072 0.9052 0.9039 0.8053 0.8377 0.8667 0.8809 0.7975 0.8162 0.8515 0.8766 0.8885 0.8859
0.8959 0.8913 0.8959 0.8971 0.9021 0.909 0.9139 0.9199 0.8692 0.8872 0.89 0.891 0.8977 0.9035 0.9078 0.7675
0.7705 0.7713 0.7736 0.7775 0.7841 0.7971 0.8329 0.8641 0.8804 0.7668 0.7633 0.7678 0.7697 0.77 0.7749 0.7796
0.7897 0.8131 0.8498 0.8741 0.8061 0.846 0.8751 0.8856 0.8919 0.8934 0.894 0.8957 0.9047 0.9129 0.9209 0.9219
0.7739 0.7681 0.7665 0.7703 0.7702 0.7761 0.7809 0.7961 0.8253 0.8602 0.8809 0.8301 0.8664 0.8834 0.8898
0.8964 0.8963 0.9074 0.9119 0.9228"""
FILIP_CERTIFIED = [
    -1467.48961422980,
    -2772.17959193342,
    -2316.37108160893,
    -1127.97394098372,
    -354.478233703349,
    -75.1242017393757,
    -10.8753180355343,
    -1.06221498588947,
    -0.670191154593408e-01,
    -0.246781078275479e-02,
    -0.402962525080404e-04,
]
WAMPLER_NOISE = """759 -2048 2048 -2048 2523 -2048 2048 -2048 1838 -2048 2048 -2048 1838 -2048 2048 -2048 2523
-2048 2048 -2048 759"""


def _read(text: str) -> Floats:
    return np.array(text.split(), dtype=np.float64)


def reference_sets() -> dict[str, ReferenceSet]:
    """Return all sets by name."""
    pontius_x = np.tile(np.arange(1, 21) * 150_000.0, 2)
    x = np.arange(21.0)
    wampler, ones, noise = powers(x, 5), np.ones(6), _read(WAMPLER_NOISE)
    polynomial = 1 + wampler.sum(axis=1)
    sets = {
        "Norris": ReferenceSet(
            powers(_read(NORRIS_X), 1), _read(NORRIS_Y), np.array([-0.262323073774029, 1.00211681802045])
        ),
        "Pontius": ReferenceSet(
            powers(pontius_x, 2),
            _read(PONTIUS_Y),
            np.array([0.673565789473684e-3, 0.732059160401003e-6, -0.316081871345029e-14]),
        ),
        "Filip": ReferenceSet(powers(_read(FILIP_X), 10), _read(FILIP_Y), np.array(FILIP_CERTIFIED)),
        "Longley": ReferenceSet(LONGLEY[:, 1:], LONGLEY[:, 0], np.array([INTERCEPT, *WEIGHTS])),
        "Wampler1": ReferenceSet(wampler, polynomial, ones),
        # The published decimals have five digits, so rounding makes them those of the formula.
        "Wampler2": ReferenceSet(
            wampler, np.round(1 + wampler @ 10.0 ** -np.arange(1, 6), 5), np.asarray(10.0 ** -np.arange(6))
        ),
    }
    for number, factor in ((3, 1.0), (4, 100.0), (5, 10_000.0)):
        sets[f"Wampler{number}"] = ReferenceSet(wampler, polynomial + factor * noise, ones)
    return sets


def correct_digits(found: Floats, expected: Floats) -> float:
    """Return −log₁₀ of the largest relative error, at most 15."""
    error = float(np.max(np.abs(found - expected) / np.abs(expected)))
    return 15.0 if error < 1e-15 else -float(np.log10(error))
