"""Alembic's entry: runs revisions on the connection that `migrate` opened, in its transaction."""

from alembic import context

from holdfast.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
