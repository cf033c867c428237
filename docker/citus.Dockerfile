# Citus with pgvector, for compose.citus.yaml: docker build -f docker/citus.Dockerfile -t holdfast-citus:13.2.0 docker
FROM citusdata/citus:13.2.0
RUN apt-get update \
    && apt-get install -y --no-install-recommends "postgresql-$PG_MAJOR-pgvector" \
    && rm -rf /var/lib/apt/lists/*
