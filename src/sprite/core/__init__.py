"""What everything else stands on: errors, array types, the ragged table of options."""
