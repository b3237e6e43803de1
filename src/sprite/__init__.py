"""SPRITE: models which option each respondent of a multiple-choice test chose, not just right or wrong."""
