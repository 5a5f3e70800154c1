"""What cases of several experiments stand on."""
