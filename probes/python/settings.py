"""What the launcher asks for, read from the environment (names: probes/environment.h)."""

import os


class Settings:
    """mode: "trace", "clock" or "check"; seed: base seed plus rank, None if the program is not seeded;
    treatment: key -> value; live: the same, for those switched between steps."""

    def __init__(self, mode, seed, rank, ranks, hash_samples, treatment, live):
        self.mode = mode
        self.seed = seed
        self.rank = rank
        self.ranks = ranks
        self.hash_samples = hash_samples
        self.treatment = treatment
        self.live = live


# The rank of a process and the number of ranks, by launcher: as in probes/environment.h, which says why in this order.
_RANK_VARIABLES = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)


def _rank(environment):
    """(rank, number of ranks): the first launcher that set both of its variables decides."""
    for names in _RANK_VARIABLES:
        rank, size = (environment.get(name, "") for name in names)
        if rank.isdecimal() and size.isdecimal() and int(rank) < int(size):
            return int(rank), int(size)
    return 0, 1


def _treatment(text):
    pairs = (item.partition("=") for item in text.split(";") if "=" in item)
    return {key.strip(): value.strip() for key, _, value in pairs}


def read():
    seed = os.environ.get("LOOPSCOPE_SEED", "")
    rank, ranks = _rank(os.environ)
    return Settings(
        mode=os.environ.get("LOOPSCOPE_MODE", "trace"),
        seed=int(seed) + rank if seed.isdigit() else None,
        rank=rank,
        ranks=ranks,
        hash_samples=os.environ.get("LOOPSCOPE_SAMPLE_RNG") == "hash",
        treatment=_treatment(os.environ.get("LOOPSCOPE_TREATMENT", "")),
        live=_treatment(os.environ.get("LOOPSCOPE_LIVE_TREATMENT", "")),
    )
