"""Example data: two stories, played into an empty store so that a first look has something to see."""

from holdfast.example_data.player import Player, fill
from holdfast.example_data.story import STORIES, ExampleStory, Scene, read

__all__ = ["STORIES", "ExampleStory", "Player", "Scene", "fill", "read"]
