"""Example data: two stories, played into an empty store so that a first look has something to see."""

from holdfast.example_data.player import Player, fill
from holdfast.example_data.story import STORIES, Scene, Story, read

__all__ = ["STORIES", "Player", "Scene", "Story", "fill", "read"]
