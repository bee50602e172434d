#!/usr/bin/python3
"""Was Kalender und Adressbuch über einen Menschen haben, auch Vergangenes: zeigen und löschen.

    PRAXIS_DAV_PASSWORD=… python3 loeschen.py "Anna Weber"          # zeigt alles, mit Zahlen davor; gelöscht wird nichts
    PRAXIS_DAV_PASSWORD=… python3 loeschen.py "Anna Weber" 1 3      # löscht diese beiden
    PRAXIS_DAV_PASSWORD=… python3 loeschen.py "Anna Weber" alle     # löscht, was ohne Zahlen gezeigt wird

Gefunden wird, wo jedes Wort des Namens steht, gleich ob Müller oder Mueller, Yıldız oder Yildiz; daneben jemand anderes heißen kann so auch:
sehen Sie erst nach. Server und Benutzer sind die in podium.yaml, sonst PRAXIS_DAV=http://rechner:5232/praxis/ und PRAXIS_DAV_USER.
"""

import base64
import os
import re
import sys
import unicodedata
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as xml

SERVER = os.environ.get("PRAXIS_DAV", "http://127.0.0.1:5232/praxis/")
USER = os.environ.get("PRAXIS_DAV_USER", "praxis")
PLACES = (("Termin", "termine/", "SUMMARY"), ("Kontakt", "kontakte/", "FN"))  # wie sie heißen, wo sie liegen, wo der Name steht
SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "oe", "å": "aa", "œ": "oe", "ł": "l", "đ": "d", "ı": "i"})


def words(text):
    """Die Wörter eines Namens, wie sie verglichen werden: so vergleicht sie auch Podium."""
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFC", text).lower().translate(SPELLED))
    return set(re.findall(r"[^\W_]+", "".join(letter for letter in folded if not unicodedata.combining(letter))))


def ask(method, url, body=None, **headers):
    request = urllib.request.Request(url, data=body, method=method, headers={name.replace("_", "-"): value for name, value in headers.items()})
    secret = f"{USER}:{os.environ['PRAXIS_DAV_PASSWORD']}".encode()
    request.add_header("Authorization", "Basic " + base64.b64encode(secret).decode())
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read(), answer.headers.get("ETag")


def field(text, name):
    """Der Wert der ersten Zeile dieses Namens; lange Zeilen sind im Format umbrochen."""
    found = re.search(rf"^{name}(?:;[^:\n]*)?:(.*)$", re.sub(r"\r?\n[ \t]", "", text).replace("\r", ""), re.MULTILINE)
    return re.sub(r"\\([\\;,])", r"\1", found.group(1).replace("\\n", " ")) if found else ""


def entries(name):
    """Was zu diesem Namen da ist: wie es heißt, was es sagt, wo es liegt und in welcher Fassung."""
    wanted = words(name)
    for called, place, line in PLACES:
        collection = urllib.parse.urljoin(SERVER, place)
        listing, _ = ask("PROPFIND", collection, b'<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>', Depth="1", Content_Type="application/xml")
        hrefs = sorted(href.text for href in xml.fromstring(listing).iter("{DAV:}href") if not href.text.endswith("/"))
        for href in hrefs:
            url = urllib.parse.urljoin(collection, href)
            body, version = ask("GET", url)
            text = body.decode("utf-8", "replace")
            if wanted <= words(field(text, line)):
                day = re.sub(r"^(\d{4})(\d\d)(\d\d).*", r"\3.\2.\1", field(text[text.find("BEGIN:VEVENT"):], "DTSTART")) if called == "Termin" else field(text, "BDAY")
                yield called, " ".join(filter(None, (field(text, line), day, field(text, "TEL")))), url, version


def main():
    name, *chosen = sys.argv[1:] or sys.exit(__doc__)
    if not words(name):
        sys.exit("Zu löschen ist jemand mit Namen.")
    found = list(entries(name))
    numbers = range(1, len(found) + 1) if chosen == ["alle"] else [int(number) for number in chosen]
    if any(number not in range(1, len(found) + 1) for number in numbers):
        sys.exit(f"Es gibt hier 1 bis {len(found)}.")
    for number, (called, said, url, version) in enumerate(found, 1):
        if number in numbers:
            ask("DELETE", url, **({"If_Match": version} if version else {}))
        print(f"{number:3}  {called:8} {said}{'  gelöscht' if number in numbers else ''}")
    print(f"{len(found)} gefunden, {len(numbers)} gelöscht.")


try:
    main()
except ValueError:
    sys.exit("Hinter dem Namen stehen Zahlen aus der Liste, oder „alle“.")
except KeyError:
    sys.exit("Das Passwort fehlt: PRAXIS_DAV_PASSWORD.")
except urllib.error.URLError as error:
    sys.exit(f"Der Server für Termine und Kontakte sagt: {error}")
