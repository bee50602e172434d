"""Sagt der Praxis mit einer Mail, dass eine Nachricht nach einem Notfall klingt."""

import email.message
import email.policy
import os
import smtplib

SECONDS = 3  # so lange wartet die Antwort höchstens auf den Mailserver


def tell(server, sender, recipient, words):
    """Ob die Mail angenommen ist. Wird die Anfrage wiederholt, hat sie dieselbe Message-ID."""
    message = email.message.EmailMessage(policy=email.policy.SMTP)
    message["From"], message["To"] = sender, recipient
    message["Subject"] = "Eine Nachricht klingt nach einem Notfall"
    message["Auto-Submitted"] = "auto-generated"
    message["Message-ID"] = f"<notfall.{os.environ.get('PODIUM_EFFECT', '')}@{sender.partition('@')[2]}>"
    run = os.environ.get("PODIUM_RUN", "")
    message.set_content(
        "Geantwortet ist: Notruf 112. Wer geschrieben hat, zeigt der Lauf, aus dem dieser kommt (task of):\n\n"
        f"    podium runs show {run}\n\nGeschrieben wurde:\n\n{words}\n"
    )
    host, _, port = server.rpartition(":")
    try:
        with smtplib.SMTP(host, int(port), timeout=SECONDS) as connection:
            connection.send_message(message)
    except (OSError, smtplib.SMTPException):
        return False
    return True
