"""What the launcher asks for, read from the environment (names: probes/environment.h)."""

import os


class Settings:
    """mode: "trace", "clock" or "check"; seed: base seed plus rank, None when the program's own draws are kept;
    treatment: key -> value; live: the same, of those that are switched between steps."""

    def __init__(self, mode, seed, rank, ranks, hash_samples, treatment, live):
        self.mode = mode
        self.seed = seed
        self.rank = rank
        self.ranks = ranks
        self.hash_samples = hash_samples
        self.treatment = treatment
        self.live = live


def _rank():
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return 0


def _ranks():
    for name in ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"):
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return 1


def _treatment(text):
    pairs = (item.partition("=") for item in text.split(";") if "=" in item)
    return {key.strip(): value.strip() for key, _, value in pairs}


def read():
    seed = os.environ.get("LOOPSCOPE_SEED", "")
    rank = _rank()
    return Settings(
        mode=os.environ.get("LOOPSCOPE_MODE", "trace"),
        seed=int(seed) + rank if seed.isdigit() else None,
        rank=rank,
        ranks=_ranks(),
        hash_samples=os.environ.get("LOOPSCOPE_SAMPLE_RNG") == "hash",
        treatment=_treatment(os.environ.get("LOOPSCOPE_TREATMENT", "")),
        live=_treatment(os.environ.get("LOOPSCOPE_LIVE_TREATMENT", "")),
    )
