#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes reference.h: what another program (scipy) makes of series that test_reference.c knows,
too. Needs python3-scipy; its output is kept, so that the test needs nothing."""
import numpy
import scipy
from scipy import stats
from scipy.stats import mstats


def series(n, step):
    """Whole eighths without an order, so that both programs have the same doubles."""
    return numpy.array([((i * 7919 + step * 131) % 1009) / 8 + 1 for i in range(n)])


def line(*values):
    return "    {" + ", ".join(f"{v:.17g}" for v in values) + "},"


def trimmed(x, g, confidence):
    if g:
        low, high = mstats.trimmed_mean_ci(x, limits=(g / len(x),) * 2, alpha=1 - confidence)
    else:
        low, high = stats.t.interval(confidence, len(x) - 1, x.mean(), stats.sem(x))
    kept = numpy.sort(x)[g:len(x) - g]
    return kept.mean(), low, high


def trimmed_lines():
    for n, g in ((5, 1), (10, 1), (12, 1), (12, 0), (20, 2), (100, 1), (1001, 3)):
        for confidence in (0.9, 0.95, 0.99):
            yield line(n, g, confidence, *trimmed(series(n, 1), g, confidence))


def paired_lines():
    for n, g in ((5, 1), (11, 1), (12, 1), (60, 1), (100, 0)):
        x = numpy.log(series(n, 1) / series(n, 2))
        mean, low, high = trimmed(x, g, 0.99)
        _, low90, high90 = trimmed(x, g, 0.9)
        yield line(n, g, *numpy.exp([mean, low, high, low90, high90]))


def p_value_lines():
    """The confidence at which an interval ends at 0 is one less the p-value."""
    for n, less in ((3, 40), (10, 50), (12, 61), (100, 66), (1001, 66)):
        yield line(n, less, stats.ttest_1samp(series(n, 1), less).pvalue)


def group_lines():
    for na, nb in ((3, 3), (3, 5), (6, 4), (20, 10)):
        a, b = numpy.log(series(na, 1)), numpy.log(series(nb, 3))
        yield line(na, nb, numpy.exp(a.mean() - b.mean()),
                   stats.ttest_ind(a, b, equal_var=False).pvalue)


def slope_lines():
    for n in (3, 5, 12, 100):
        fit = stats.linregress(numpy.arange(n) * 10.0, series(n, 1))
        yield line(n, fit.slope, stats.t.ppf(0.975, n - 2) * fit.stderr)


def table(name, fields, lines):
    print(f"\nstatic const struct {{ double {fields}; }} {name}[] = {{")
    print("\n".join(lines))
    print("};")


print("/* SPDX-License-Identifier: MIT */")
print(f"/* Made by make_reference.py with scipy {scipy.__version__}. */")
table("ref_trimmed", "n, trim, confidence, mean, low, high", trimmed_lines())
table("ref_paired", "n, trim, ratio, low, high, low90, high90", paired_lines())
table("ref_p_values", "n, less, p", p_value_lines())
table("ref_groups", "na, nb, ratio, p", group_lines())
table("ref_slopes", "n, slope, half", slope_lines())
