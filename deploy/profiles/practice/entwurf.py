#!/usr/bin/python3
"""Nimmt E-Mails zur Kenntnis und schreibt Entwürfe. Gesendet wird nichts: ein Entwurf ist eine Datei, die jemand prüft."""

import email.message
import email.policy
import json
import os
import pathlib
import re
import sys

arguments = json.load(sys.stdin)["payload"]["tasks"][0]["context"]["arguments"]
action, received = arguments["action"], arguments["email_data"]
recipient, content = arguments.get("recipient"), arguments.get("content")
subject = received.get("subject", "")


ALL = r"(?:all\w*|saemtliche\w*|sämtliche\w*|komplette\w*|ganze\w*|gesamte\w*|liste (?:der|aller|ihrer|unserer))"
DATA = r"(?:daten|kartei|\w*akten?|kontakte?n?|kontaktdaten|adressen|telefonnummern|befunde)"


def asks_for_patients(text):
    """Ob jemand Daten vieler Patienten haben will: daraus wird kein Entwurf, den jemand versehentlich absendet."""
    return re.search(rf"\b{ALL}\s+(?:\w+\s+){{0,3}}{DATA}\b|\bpatienten(?:daten|liste|akten|kartei)\b", text.casefold())


def one_line(text):
    return " ".join(str(text).split())


def draft(to, about, text):
    message = email.message.EmailMessage(policy=email.policy.SMTPUTF8)
    # Ein Name ist keine Adresse: er steht im Text, und wer absendet, wählt die Adresse.
    if "@" in to and " " not in to:
        message["To"] = one_line(to)
    message["Subject"] = one_line(about)
    message["X-Unsent"] = "1"
    message.set_content(text if message["To"] else f"An: {one_line(to)}\n\n{text}")
    (pathlib.Path(os.environ["PODIUM_DIR"]) / "out" / "entwurf.eml").write_bytes(bytes(message))


if (action != "process" or recipient) and asks_for_patients(" ".join(filter(None, (subject, content, received.get("text"))))):
    print("Das schreibe ich nicht: Daten von Patienten werden hier weder zusammengestellt noch verschickt. Bitte wenden Sie sich an die Praxis.", file=sys.stderr)
    sys.exit(65)
if action == "compose":
    draft(recipient, subject or "Nachricht der Praxis", content)
    said = f"Der Entwurf an {one_line(recipient)} liegt bei. Gesendet ist er nicht."
elif action == "reply":
    to = recipient or received.get("from")
    if not to:
        print("Es ist nicht bekannt, wem geantwortet werden soll.", file=sys.stderr)
        sys.exit(65)
    draft(to, "Re: " + subject if subject else "Antwort der Praxis", content or "\n\n> " + received.get("text", "").replace("\n", "\n> "))
    said = f"Der Entwurf einer Antwort an {one_line(to)} liegt bei. Gesendet ist er nicht."
elif recipient:
    draft(recipient, "Weiterleitung: " + subject, received.get("text", ""))
    said = f"Der Entwurf einer Weiterleitung an {one_line(recipient)} liegt bei. Gesendet ist er nicht."
else:
    said = "Die Nachricht ist zur Kenntnis genommen."
print(json.dumps({"text": said, "data": {"action": action, "draft": recipient is not None or action != "process"}}, ensure_ascii=False))
