"""One command a benchmark: reads its options, runs it, shows the figures."""
