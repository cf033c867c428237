"""Memories as files: at a path, in a directory that the space is bound to."""

from typing import TYPE_CHECKING

from holdfast.app import wiring
from holdfast.domain.access import needs
from holdfast.engine.verbs.speaking import Speaking

if TYPE_CHECKING:
    from holdfast.files.bindings import DirectoryState
    from holdfast.files.scan import SyncReport
    from holdfast.files.verbs import FileChange, FileEntry, FileText


class Filing(Speaking):
    """Memories as files: at a path, in a directory that the space is bound to."""

    @needs("read")
    def files(self) -> "list[FileEntry]":
        """The memories as files, by path."""
        from holdfast.files import verbs

        return verbs.listed(ctx=self._synced)

    @needs("read")
    def file(self, path: str) -> "FileText":
        """One file: its whole text, and the memory behind it."""
        from holdfast.files import verbs

        return verbs.read(path, ctx=self._synced)

    @needs("read")
    def file_index(self) -> str:
        """The index of all files, as MEMORY.md has it."""
        from holdfast.files import verbs

        return verbs.index(ctx=self._synced)

    @needs("write")
    def write_file(
        self,
        path: str,
        content: str,
        *,
        name: str | None = None,
        description: str | None = None,
        type: str | None = None,  # noqa: A002  # the word that files have for it
        expect: str | None = None,
    ) -> "FileChange":
        """Creates or overwrites a file with a heading; what is not given stays as it was."""
        from holdfast.files import verbs

        return verbs.write(
            path, content, ctx=self._synced, source=self._source(), name=name, description=description,
            category=type, expect=expect,
            project=None if self.profile.holds_everywhere(type) else self._project,
        )  # fmt: skip

    @needs("write")
    def put_file(self, path: str, text: str, *, new: bool = False, expect: str | None = None) -> "FileChange":
        """Makes a file say exactly `text`; `expect` is the sha256 of what the caller last saw in it."""
        from holdfast.files import verbs

        return verbs.put(
            path, text, ctx=self._synced, source=self._source(), new=new, expect=expect, project=self._project
        )

    @needs("write")
    def rename_file(self, old: str, new: str) -> list[tuple[str, str]]:
        """Moves a file, or a folder with all in it; answers what is where now."""
        from holdfast.files import verbs

        return verbs.rename(old, new, ctx=self._synced, source=self._source())

    @needs("write")
    def delete_file(self, path: str) -> list[str]:
        """Deletes a file, or a folder with all in it; what they said is forgotten softly."""
        from holdfast.files import verbs

        return verbs.delete(path, ctx=self._synced, source=self._source())

    @needs("read")
    def directory(self) -> "DirectoryState | None":
        """How the directory that this space is bound to stands; none without one."""
        return wiring.directories(self._ctx.store).state(self._ctx)

    @needs("write")
    def sync_directory(self, *, accept_empty: bool = False, write_back: bool = False) -> "SyncReport":
        """Brings the bound directory and this space to agree."""
        found = wiring.directories(self._ctx.store)
        return found.sync(self._ctx, accept_empty=accept_empty, write_back=write_back)

    @needs("admin")
    def bind_directory(self, path: str, *, layout: str | None = None) -> "SyncReport":
        """Binds this space to a directory of this machine, which is the same memory from then on."""
        return wiring.directories(self._ctx.store).bind(self._ctx, path, layout)

    @needs("admin")
    def unbind_directory(self) -> str:
        """Lets go of the directory; its files stay. Answers its path."""
        return wiring.directories(self._ctx.store).unbind(self._ctx)
