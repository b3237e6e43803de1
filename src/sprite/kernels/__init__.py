"""The compiled loops; nothing is compiled anywhere else."""
