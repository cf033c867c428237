"""Speed and quality of the product, measured from a clone (`python -m bench`); not in the wheel."""
