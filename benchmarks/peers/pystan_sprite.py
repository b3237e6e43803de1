"""SPRITE in Stan, written by hand: every ability is a parameter, sampled by Stan's NUTS through PyStan.

Run as ``python pystan_sprite.py problem.npz draws.npz '{"warmup": 1000, ...}'`` in the peers' environment. Reads the
problem, writes the draws of the question parameters, and prints one line of JSON with the times. Stan gives one time
for warm-up and draws together; it is shared out by the leapfrog steps of each.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib.metadata import version

import numpy as np
import stan

SETTINGS = json.loads(sys.argv[3])
# Answers by question: the normalising sum of a question is one vectorised expression over its respondents.
CODE = """
data {
  int<lower=1> N; int<lower=1> Q; int<lower=1> M; int<lower=1> F; int<lower=0> A;
  array[Q] int<lower=1> options;
  array[Q, M] int<lower=0> free_at;
  array[A] int<lower=1> who; array[A] int<lower=1> chosen;
  array[Q + 1] int<lower=1> first;
}
parameters { vector[F] mu_free; vector[F] log_nu; vector[N] z; }
model {
  mu_free ~ normal(0, 1);
  target += -log_nu - exp(-log_nu);
  z ~ normal(0, 1);
  for (q in 1:Q) {
    int a = first[q]; int b = first[q + 1] - 1;
    if (b >= a) {
      matrix[options[q], b - a + 1] logit;
      row_vector[b - a + 1] at = z[who[a:b]]';
      for (m in 1:options[q]) {
        real mu = free_at[q, m] > 0 ? mu_free[free_at[q, m]] : 0;
        real level = free_at[q, m] > 0 ? log_nu[free_at[q, m]] : 0;
        logit[m] = -0.5 * level - 0.5 * exp(-level) * square(at - mu);
      }
      for (i in a:b) target += logit[chosen[i], i - a + 1] - log_sum_exp(logit[, i - a + 1]);
    }
  }
}
"""


def main() -> None:
    problem = np.load(sys.argv[1])
    codes, possible, free = problem["codes"], problem["possible"], problem["free"]
    free_at = np.zeros(free.shape, dtype=int)
    free_at[free] = np.arange(1, free.sum() + 1)
    question, who = np.nonzero(codes.T >= 0)
    first = np.searchsorted(question, np.arange(len(free) + 1)) + 1
    data = {
        "N": len(codes), "Q": len(free), "M": free.shape[1], "F": int(free.sum()), "A": len(who),
        "options": possible.sum(axis=1).tolist(), "free_at": free_at.tolist(), "first": first.tolist(),
        "who": (who + 1).tolist(), "chosen": (codes.T[question, who] + 1).tolist(),
    }  # fmt: skip
    began = time.perf_counter()
    posterior = stan.build(CODE, data=data, random_seed=SETTINGS["seed"] + 1)
    compilation = time.perf_counter() - began
    rng = np.random.default_rng(SETTINGS["seed"])
    starts = [
        {name: (problem[key] + 0.05 * rng.standard_normal(problem[key].size)).tolist()
         for name, key in (("mu_free", "mu"), ("log_nu", "log_nu"), ("z", "z"))}
        for _ in range(SETTINGS["chains"])
    ]  # fmt: skip
    began = time.perf_counter()
    fit = posterior.sample(
        num_chains=SETTINGS["chains"], num_warmup=SETTINGS["warmup"], num_samples=SETTINGS["draws"],
        init=starts, save_warmup=True,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    warmup = SETTINGS["warmup"]

    def by_chain(name: str) -> np.ndarray:
        """(chains, iterations, ...): PyStan lays out iterations first, then chains."""
        values = np.asarray(fit[name])
        return np.moveaxis(values.reshape(*values.shape[:-1], -1, SETTINGS["chains"]), (-1, -2), (0, 1))

    steps = by_chain("n_leapfrog__")[..., 0]
    share = float(steps[:, warmup:].sum() / steps.sum())
    np.savez(sys.argv[2], mu=by_chain("mu_free")[:, warmup:], log_nu=by_chain("log_nu")[:, warmup:])
    print(json.dumps({
        "warmup_seconds": seconds * (1.0 - share), "draw_seconds": seconds * share, "compile_seconds": compilation,
        "divergences": int(by_chain("divergent__")[:, warmup:].sum()), "steps": float(steps[:, warmup:].mean()),
        "versions": {"pystan": version("pystan"), "httpstan": version("httpstan")}, "threads": os.cpu_count(),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
