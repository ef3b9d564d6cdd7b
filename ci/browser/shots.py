"""Screenshots of every kind of page, wide and narrow, light and dark, for people to look at.

    shots.py ADDRESS FOLDER PAGE...      PAGE is name=path, as in run=/run/first
"""

import sys
import time

from driver import Browser


def main():
    address, folder, pages = sys.argv[1], sys.argv[2], sys.argv[3:]
    browser = Browser()
    try:
        for page in pages:
            name, path = page.split("=", 1)
            for look, width, height, dark in [("light", 1280, 900, False), ("dark", 1280, 900, True), ("phone", 390, 844, False), ("phone-dark", 390, 844, True)]:
                browser.look(width, height, dark)
                browser.open(address + path)
                time.sleep(1.2)
                browser.picture(f"{folder}/{name}-{look}.png")
                wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                print(name, look, f"{wide} px too wide" if wide > 0 else "fits", *browser.complaints())
    finally:
        browser.close()


main()
