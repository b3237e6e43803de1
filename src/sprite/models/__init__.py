"""The models: each is its mathematics and nothing else."""
