"""Charts of a fit: one file each, `*_data()` for the frame behind it and `plot_*()` for the Altair chart."""

from __future__ import annotations

from importlib import import_module

_PUBLIC = {
    "KINDS": "kinds",
    "ability_distribution_data": "ability_map",
    "ability_map_data": "ability_map",
    "chains_data": "chains",
    "comparison_data": "comparison",
    "observed_expected_data": "observed_expected",
    "observed_shares_data": "option_curves",
    "option_curves_data": "option_curves",
    "option_order_data": "option_order",
    "option_probabilities_data": "option_probabilities",
    "ordinal_data": "ordinal",
    "plot": "kinds",
    "plot_ability_map": "ability_map",
    "plot_chains": "chains",
    "plot_comparison": "comparison",
    "plot_observed_expected": "observed_expected",
    "plot_option_curves": "option_curves",
    "plot_option_order": "option_order",
    "plot_option_probabilities": "option_probabilities",
    "plot_ordinal": "ordinal",
    "plot_overview": "overview",
    "plot_precision": "precision",
    "plot_question_information": "question_information",
    "plot_scheme": "scheme",
    "plot_sprites": "sprites",
    "plot_two_questions": "two_questions",
    "precision_data": "precision",
    "question_information_data": "question_information",
    "rank_histogram_data": "chains",
    "save_chart": "saving",
    "scheme_data": "scheme",
    "sprites_data": "sprites",
    "two_questions_data": "two_questions",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'sprite.plots' has no attribute {name!r}")
    return getattr(import_module(f"sprite.plots.{_PUBLIC[name]}"), name)
