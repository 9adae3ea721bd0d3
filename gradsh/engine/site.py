"""Where in the user's program an operation was called: (code object, instruction offset).

Frames of gradsh's own files are passed over; a user's code object is known by its file name, which
begins with `<`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType

getframe = sys._getframe


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The nearest frame at or above this one that runs the user's program."""
    while frame is not None and frame.f_code.co_filename[0] != "<":
        frame = frame.f_back
    return frame


def user_site() -> tuple[CodeType | None, int]:
    """The user's place that led here."""
    frame = user_frame(getframe(1))
    return (None, -1) if frame is None else (frame.f_code, frame.f_lasti)
