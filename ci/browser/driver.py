"""A browser driven through chromedriver by the WebDriver protocol, with nothing but Python's own library.

What is not of the protocol goes through Chrome's own commands: the width of a phone, dark mode, the messages of the
console. An error in the console of any page is an error of the test.
"""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--lang=en-US",
]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="sortie-browser-")
        port = free_port()
        self.root = f"http://127.0.0.1:{port}"
        # A posix locale makes Chromium call its language en-US@posix, which Intl refuses.
        environment = {**os.environ, "LANG": "en_US.UTF-8", "LC_ALL": "en_US.UTF-8"}
        self.process = subprocess.Popen(
            ["chromedriver", f"--port={port}"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.session = None
        until(lambda: self.alive(), "chromedriver answers")
        options = {"args": [*ARGUMENTS, f"--user-data-dir={self.profile}"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def alive(self):
        try:
            return self.ask("GET", "/status")["ready"]
        except (urllib.error.URLError, ConnectionError):
            return False

    def ask(self, method, path, body=None):
        address = self.root + (f"/session/{self.session}" if self.session else "") + path
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()[:600]}") from None

    def open(self, address):
        self.ask("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def click(self, selector):
        element = self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]
        self.ask("POST", f"/element/{element}/click", {})

    def press(self, selector, keys):
        element = self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]
        self.ask("POST", f"/element/{element}/value", {"text": keys})

    def chrome(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, width=1280, height=900, dark=False):
        """As wide as this, light or dark."""
        phone = width < 700
        self.chrome("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.chrome("Emulation.setEmulatedMedia", features=[feature])

    def picture(self, path, whole=True):
        shot = self.chrome("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def complaints(self, but=()):
        """Errors in the console since the last time, but for those that contain one of some texts."""
        log = self.ask("POST", "/se/log", {"type": "browser"})
        bad = [entry["message"] for entry in log if entry["level"] == "SEVERE"]
        return [message for message in bad if not any(text in message for text in but)]

    def close(self):
        try:
            if self.session:
                self.ask("DELETE", "")
        except (AssertionError, OSError):
            pass
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def until(what, said, seconds=300):
    """Waits until something holds; says what did not. The seconds are a bound for what hangs."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"after {seconds} s still not: {said}")
