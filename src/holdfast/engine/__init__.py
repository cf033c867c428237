from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # fmt: off
    from holdfast.engine import (  # noqa: I001  # one list
        access_log as access_log, archive as archive, audit as audit, brief as brief,
        cache_report as cache_report,
        capture as capture, changes as changes, context as context, dialogues as dialogues,
        embedding as embedding, erase as erase, events as events, find as find, forget as forget,
        imports as imports, inbox as inbox, jobs as jobs, left_open as left_open, link as link, look as look,
        meter as meter, models_in_use as models_in_use, quote_rules as quote_rules, reading as reading,
        reading_queue as reading_queue, recall as recall, recapture as recapture, remember as remember,
        restore as restore, revise as revise, session_names as session_names,
        session_story as session_story, sessions as sessions, spaces as spaces,
        split as split, stats as stats, tend as tend, transcripts as transcripts, undo as undo,
    )
    # fmt: on
else:

    def __getattr__(name: str) -> object:
        """A verb's module, loaded when it is first used: no command uses all of them."""
        from importlib import import_module

        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
