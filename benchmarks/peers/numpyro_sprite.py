"""SPRITE in NumPyro, written by hand: every ability is a parameter, sampled by NUTS.

Run as ``python numpyro_sprite.py problem.npz draws.npz '{"warmup": 1000, ...}'`` in the peers' environment. Reads the
problem, writes the draws of the question parameters, and prints one line of JSON with the times.
"""

from __future__ import annotations

import json
import os
import sys
import time

SETTINGS = json.loads(sys.argv[3])
if SETTINGS["chain_method"] == "parallel":
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={SETTINGS['chains']}"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import numpyro  # noqa: E402
import numpyro.distributions as dist  # noqa: E402
from jax import monitoring  # noqa: E402
from numpyro.infer import MCMC, NUTS  # noqa: E402

numpyro.enable_x64()
compiled = [0.0]


def count_compilation(event: str, seconds: float, **_: object) -> None:
    if event.endswith(("backend_compile_duration", "jaxpr_to_mlir_module_duration")):
        compiled[0] += seconds


def model(chosen, observed, possible, free):
    """chosen (N, Q, M) one-hot, observed (N, Q); (Q, M): options that exist, and are not anchored."""
    n = int(free.sum())
    mu_free = numpyro.sample("mu", dist.Normal(0.0, 1.0).expand([n]).to_event(1))
    nu_free = numpyro.sample("nu", dist.InverseGamma(1.0, 1.0).expand([n]).to_event(1))
    z = numpyro.sample("z", dist.Normal(0.0, 1.0).expand([chosen.shape[0]]).to_event(1))
    mu = jnp.zeros(free.shape).at[free].set(mu_free)
    nu = jnp.ones(free.shape).at[free].set(nu_free)
    logit = -0.5 * jnp.log(nu) - 0.5 * (z[:, None, None] - mu) ** 2 / nu
    logit = jnp.where(possible, logit, -jnp.inf)
    picked = jnp.where(chosen, logit, 0.0).sum(-1)
    numpyro.factor("answers", jnp.where(observed, picked - jax.scipy.special.logsumexp(logit, axis=-1), 0.0).sum())


def main() -> None:
    problem = np.load(sys.argv[1])
    codes, possible, free = problem["codes"], problem["possible"], problem["free"]
    chosen = codes[:, :, None] == np.arange(possible.shape[1])
    chains = SETTINGS["chains"]
    rng = np.random.default_rng(SETTINGS["seed"])
    # Unconstrained starting points: a positive parameter starts at its logarithm.
    starts = {name: jnp.asarray(problem[key] + 0.05 * rng.standard_normal((chains, problem[key].size)))
              for name, key in (("mu", "mu"), ("nu", "log_nu"), ("z", "z"))}  # fmt: skip
    mcmc = MCMC(
        NUTS(model, target_accept_prob=0.8, max_tree_depth=10),
        num_warmup=SETTINGS["warmup"],
        num_samples=SETTINGS["draws"],
        num_chains=chains,
        chain_method=SETTINGS["chain_method"],
        progress_bar=False,
    )
    monitoring.register_event_duration_secs_listener(count_compilation)
    data = (jnp.asarray(chosen), jnp.asarray(codes >= 0), possible, free)
    seconds, compilation = {}, 0.0
    for phase in ("warmup", "draws"):
        key = jax.random.PRNGKey(SETTINGS["seed"] + (phase == "draws"))
        before, began = compiled[0], time.perf_counter()
        if phase == "warmup":
            mcmc.warmup(key, *data, init_params=starts)
            jax.block_until_ready(mcmc.last_state.z)
        else:
            mcmc.run(key, *data, extra_fields=("diverging", "num_steps"))
            draws = jax.block_until_ready(mcmc.get_samples(group_by_chain=True))
        spent = compiled[0] - before
        seconds[phase] = time.perf_counter() - began - spent
        compilation += spent
    extra = mcmc.get_extra_fields(group_by_chain=True)
    np.savez(sys.argv[2], mu=draws["mu"], log_nu=np.log(draws["nu"]))
    print(json.dumps({
        "warmup_seconds": seconds["warmup"], "draw_seconds": seconds["draws"], "compile_seconds": compilation,
        "divergences": int(extra["diverging"].sum()), "steps": float(extra["num_steps"].mean()),
        "versions": {"numpyro": numpyro.__version__, "jax": jax.__version__},
    }))  # fmt: skip


if __name__ == "__main__":
    main()
