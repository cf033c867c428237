"""Sets other programs up to use Holdfast, and takes exactly that out again."""
