"""A headless Chromium driven over its debugging pipe: no port, no driver, no package."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 60.0  # seconds until an answer is given up
FLAGS = (
    "--headless",
    "--no-sandbox",  # a container's user may have no namespaces of its own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)


def found() -> str | None:
    """The path of a Chromium; None if there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Page:
    """One tab, its console and its requests."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._waiting, self._number, self._session = b"", 0, None
        self.problems: list[str] = []  # what the console said, and exceptions
        self.requests: list[str] = []
        self.loaded = False
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{part}.enable")

    def open(self, address: str, *, scripts: bool = True) -> None:
        """Load a page and wait until it stands."""
        self._ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.problems, self.requests, self.loaded = [], [], False
        self._ask("Page.navigate", url="about:blank")
        self._until_loaded()
        self.requests, self.loaded = [], False
        self._ask("Page.navigate", url=address)
        self._until_loaded()

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def look(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """The size of the window and the reader's preference."""
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])

    def on_paper(self, printed: bool) -> None:
        """The page as it is laid out for paper, or for the screen again."""
        self._ask("Emulation.setEmulatedMedia", media="print" if printed else "")

    def press(self, key: str, code: int, text: str = "") -> None:
        """One key, down and up."""
        for kind in ("keyDown", "keyUp"):
            self._ask(
                "Input.dispatchKeyEvent",
                type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text if kind == "keyDown" else "",
            )  # fmt: skip

    def hover(self, x: float, y: float) -> None:
        """The pointer at a place of the window, no button pressed."""
        self._ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        """A click of the mouse at a place of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """A picture of the window, or of the whole page."""
        taken = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(taken["data"]))

    def pdf(self) -> bytes:
        """The page on paper."""
        return base64.b64decode(self._ask("Page.printToPDF", printBackground=True)["data"])

    def _until_loaded(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self.loaded:
            self._hear(deadline)
        # One more question and answer: what the console had to say has arrived.
        self._ask("Page.getLayoutMetrics")

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            heard = self._hear(deadline)
            if heard.get("id") == self._number:
                if "error" in heard:
                    raise AssertionError(f"{method}: {heard['error']}")
                result: dict[str, Any] = heard["result"]
                return result

    def _hear(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            ready, _, _ = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))
            part = os.read(self._read, 1 << 20) if ready else b""
            if not part:
                raise TimeoutError("the browser does not answer")
            self._waiting += part
        text, _, self._waiting = self._waiting.partition(b"\0")
        heard: dict[str, Any] = json.loads(text)
        self._note(heard.get("method", ""), heard.get("params", {}))
        return heard

    def _note(self, method: str, told: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(str(told["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.problems.append(str(told["entry"].get("text")))
        elif method == "Runtime.consoleAPICalled":
            self.problems.append(str(told["args"]))


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A fresh browser with an empty profile in this folder."""
    program = found()
    assert program is not None
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    # The browser reads from descriptor 3 and writes to 4; a shell puts the pipes there.
    shell = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
    process = subprocess.Popen(
        ["bash", "-c", shell, "bash", program, *FLAGS, f"--user-data-dir={folder / 'profile'}"],
        pass_fds=(theirs_in, theirs_out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Page(ours_out, ours_in)
    finally:
        os.close(ours_out)
        os.close(ours_in)
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
