"""The HTTP interfaces of `holdfast serve`: the service itself, REST, and the dashboard."""
