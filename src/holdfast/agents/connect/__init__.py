"""Sets other programs up to use Holdfast, and removes exactly that again."""
