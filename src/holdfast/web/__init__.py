"""What `holdfast serve` offers over HTTP: the service itself, REST, and the dashboard."""
