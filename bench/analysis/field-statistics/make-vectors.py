"""Makes vectors.json: what other people's statistics say of the same rows. README.md has the command."""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from confseq.boundaries import normal_mixture_bound
from gbstats.frequentist.tests import SequentialConfig, SequentialTwoSidedTTest
from gbstats.models.statistics import RatioStatistic, RegressionAdjustedStatistic, SampleMeanStatistic
from scipy.special import betaln

SCALE = 4096
ALPHA = 0.05
TUNED_TO = 10_000
PRIOR_DRAWS = 1000


def rows_of(random, clients, gain, pages_max):
    """Clients: pages, the sums of ln(time) and ln(expected time), pages over HTTP/3; in whole parts of 1 / SCALE."""
    pages = random.integers(1, pages_max + 1, clients)
    predicted = random.normal(-0.2, 0.4, clients)
    own = random.normal(0, 0.5, clients)
    over_h3 = (random.random(clients) < (0.75 if gain else 0.02)) * pages
    logs = pages * (predicted + own) + random.normal(0, 0.4, clients) * np.sqrt(pages) - gain * over_h3
    return np.rint(SCALE * np.column_stack([pages, logs, predicted * pages, over_h3])).astype(int)


def mean_statistic(values):
    return SampleMeanStatistic(n=len(values), sum=values.sum(), sum_squares=(values**2).sum())


def ratio_statistic(rows):
    pages, logs = rows[:, 0] / SCALE, rows[:, 1] / SCALE
    return RatioStatistic(
        n=len(rows),
        m_statistic=mean_statistic(logs),
        d_statistic=mean_statistic(pages),
        m_d_sum_of_products=(logs * pages).sum(),
    )


def adjusted_statistics(withheld, offered):
    """One page a client: then a ratio of sums is a mean. The slope is the one that makes the difference most certain."""
    moments = [np.cov(rows[:, 1] / SCALE, rows[:, 2] / SCALE) / len(rows) for rows in (withheld, offered)]
    theta = sum(m[0, 1] for m in moments) / sum(m[1, 1] for m in moments)
    return [
        RegressionAdjustedStatistic(
            n=len(rows),
            post_statistic=mean_statistic(rows[:, 1] / SCALE),
            pre_statistic=mean_statistic(rows[:, 2] / SCALE),
            post_pre_sum_of_products=(rows[:, 1] / SCALE * rows[:, 2] / SCALE).sum(),
            theta=theta,
        )
        for rows in (withheld, offered)
    ]


def compared(withheld, offered):
    """gbstats takes the difference b - a; a gain is the time of those withheld less that of those offered."""
    config = SequentialConfig(
        difference_type="absolute", traffic_proportion_b=0.5, alpha=ALPHA, sequential_tuning_parameter=TUNED_TO
    )
    slope = getattr(offered, "theta", None)
    test = SequentialTwoSidedTTest(offered, withheld, config)
    if slope is not None:
        # The test puts its own slope in, of both arms' clients as one sample: there the effect itself is part of it.
        test.stat_a.theta = test.stat_b.theta = slope
    low, high = test.confidence_interval
    return {"value": float(test.point_estimate), "se": float(np.sqrt(test.variance)), "low": float(low), "high": float(high)}


def main():
    random = np.random.default_rng(20261122)
    many = {"offered": rows_of(random, 180, 0.15, 2), "withheld": rows_of(random, 130, 0, 2)}
    single = {"offered": rows_of(random, 140, 0.15, 1), "withheld": rows_of(random, 210, 0, 1)}
    boundary = [
        {
            "clients": clients,
            "alpha": alpha,
            "tunedTo": tuned_to,
            "reach": float(normal_mixture_bound(float(clients), alpha, float(tuned_to), alpha, False) / np.sqrt(clients)),
        }
        for clients in (200, 1000, 10_000, 123_456)
        for alpha in (0.05, 0.01)
        for tuned_to in (5000, 10_000)
    ]
    sample_ratio = [
        {
            "offered": a,
            "withheld": b,
            "share": share,
            "logEvidence": float(
                betaln(PRIOR_DRAWS * share + a, PRIOR_DRAWS * (1 - share) + b)
                - betaln(PRIOR_DRAWS * share, PRIOR_DRAWS * (1 - share))
                - a * np.log(share)
                - b * np.log(1 - share)
            ),
        }
        for a, b, share in [(0, 0, 0.5), (7, 3, 0.5), (5100, 4900, 0.5), (900, 9100, 0.1), (510_000, 490_000, 0.5), (3, 900, 0.01)]
    ]
    vectors = {
        "about": {
            "python": sys.version.split()[0],
            **{name: version(name) for name in ("gbstats", "confseq", "numpy", "scipy")},
            "scale": SCALE,
        },
        "ratio": {
            "rows": {arm: rows.tolist() for arm, rows in many.items()},
            **compared(ratio_statistic(many["withheld"]), ratio_statistic(many["offered"])),
        },
        "adjusted": {
            "rows": {arm: rows.tolist() for arm, rows in single.items()},
            **compared(*adjusted_statistics(single["withheld"], single["offered"])),
        },
        "boundary": boundary,
        "sampleRatio": sample_ratio,
    }
    text = json.dumps(vectors, separators=(",", ":"))
    Path(__file__).with_name("vectors.json").write_text(text + "\n")


main()
