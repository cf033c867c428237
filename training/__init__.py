"""How Holdfast's own models are made: data, training, export and evaluation. Not part of the package."""
