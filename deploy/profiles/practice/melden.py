"""Schreibt der Praxis Mails: sofort, wenn eine Nachricht nach einem Notfall klingt, und was offen.py zusammenstellt."""

import email.message
import email.policy
import os
import smtplib

SECONDS = 3  # so lange wartet, wer schreibt, höchstens auf den Mailserver


def send(server, sender, recipient, subject, text, identity):
    """Ob die Mail angenommen ist. Wird sie wiederholt, hat sie dieselbe Message-ID."""
    message = email.message.EmailMessage(policy=email.policy.SMTP)
    message["From"], message["To"] = sender, recipient
    message["Subject"] = subject
    message["Auto-Submitted"] = "auto-generated"
    message["Message-ID"] = f"<{identity}@{sender.partition('@')[2]}>"
    message.set_content(text)
    host, _, port = server.rpartition(":")
    try:
        with smtplib.SMTP(host, int(port), timeout=SECONDS) as connection:
            connection.send_message(message)
    except (OSError, smtplib.SMTPException):
        return False
    return True


def tell(server, sender, recipient, words):
    """Ob eine Mail angenommen ist, die sagt, dass diese Worte nach einem Notfall klingen."""
    text = (
        "Geantwortet ist: Notruf 112. Wer geschrieben hat, zeigt der Lauf, aus dem dieser kommt (task of):\n\n"
        f"    podium runs show {os.environ.get('PODIUM_RUN', '')}\n\nGeschrieben wurde:\n\n{words}\n"
    )
    return send(server, sender, recipient, "Eine Nachricht klingt nach einem Notfall", text, f"notfall.{os.environ.get('PODIUM_EFFECT', '')}")
