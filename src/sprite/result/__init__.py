"""What comes out of a fit, whatever the engine."""
