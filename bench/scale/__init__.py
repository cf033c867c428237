"""What a cluster costs beside one PostgreSQL, by how many spaces and memories there are."""
