#!/usr/bin/env python3
"""An agent for Podium: it writes what it is asked in capital letters.

    python3 clerk.py [data directory of podium]

Without an argument the directory is PODIUM_DATA of the environment, else podium-data.
It needs no NATS client: the protocol of NATS is lines of text over a socket
(https://docs.nats.io/reference/reference-protocols/nats-protocol). Keys are made
use of by PyNaCl, in Debian python3-nacl.

`work` is what you replace. All below it can stay, but for the description in the announcement.
"""

import base64
import binascii
import hashlib
import itertools
import json
import os
import queue
import re
import signal
import socket
import sys
import threading
import time
import traceback
import urllib.parse
import uuid
from datetime import datetime, timezone

import nacl.signing

NAME = "clerk"  # as podium.yaml has it, with `concurrency` and `heartbeat`
CONCURRENCY = 2
HEARTBEAT = 5  # seconds


class Failure(Exception):
    """Its words are for the person who waits."""


class Hopeless(Failure):
    """Likewise, and no other attempt can help."""


def work(task, say, stopped):
    """Do one task and return its text.

    say tells the person how far it is. When stopped is set nobody waits for the
    result any more.
    """
    words = task.get("context", {}).get("request") or task["description"]  # what the person wrote: data, never instruction
    if not any(map(str.isalpha, words)):
        raise Hopeless("There is no letter in it.")
    wanted = re.search(r"in (\d+) seconds", words)
    seconds = int(wanted[1]) if wanted else 0
    for passed in range(seconds):
        say(100 * passed // seconds, f"{seconds - passed} seconds to go")
        if stopped.wait(1):
            break
    return words.upper()


# --- The protocol of NATS


class Refused(Exception):
    """The server does not let this agent in."""


def end():
    """End this process: no further attempt to connect can help."""
    print(f"Podium does not let {NAME} in: it was revoked, its key is another one by now, or podium.yaml does not have it as "
          f'"kind: external". `podium agents` tells; `podium agents add {NAME}` takes it in again, with a new key.', file=sys.stderr, flush=True)
    os._exit(1)


class Message:
    def __init__(self, reply, headers, data, status):
        self.reply, self.headers, self.data, self.status = reply, headers, data, status


class Nats:
    """A connection that comes again by itself when it breaks."""

    def __init__(self, directory):
        self.directory = directory
        self.lock = threading.Lock()  # of what is written to the socket
        self.socket = None  # while there is no connection
        self.receivers = {}  # by the id of a subscription
        self.lasting = {}  # subject, by the id of a subscription that outlives a connection
        self.ids = itertools.count(1)
        self.address()  # fails at once when nothing is there
        threading.Thread(target=self.stay_connected, daemon=True).start()

    def address(self):
        with open(f"{self.directory}/instance.json", encoding="utf-8") as file:
            url = urllib.parse.urlsplit(json.load(file)["nats"])
        return url.hostname, url.port

    def stay_connected(self):
        address, refused = self.address(), 0
        while refused < 2:  # twice in a row, as with NATS' own clients: the first may be the end of a connection
            try:
                self.converse(address)
            except Refused as error:
                refused += 1
                print(f"connection: {error}", file=sys.stderr)
            except (OSError, ValueError) as error:
                refused = 0
                print(f"connection: {error}", file=sys.stderr)
            self.socket = None
            time.sleep(1)
        end()

    def converse(self, address):
        """Log in, then take what the server sends, until the connection breaks."""
        with socket.create_connection(address, 10) as connection, connection.makefile("rb") as lines:
            connection.settimeout(None)
            nonce = json.loads(lines.readline().removeprefix(b"INFO "))["nonce"]
            connection.sendall(b"CONNECT " + json.dumps(self.login(nonce)).encode() + b"\r\n")
            with self.lock:
                for number, subject in self.lasting.items():
                    connection.sendall(f"SUB {subject} {number}\r\n".encode())
                self.socket = connection
            while line := lines.readline():
                verb, *arguments = line.split()
                if verb == b"PING":
                    self.send(b"PONG\r\n")
                elif verb in (b"MSG", b"HMSG"):
                    self.receive(verb, arguments, lines)
                elif verb == b"-ERR":
                    if re.search(rb"(?i)authorization violation|authentication (revoked|expired)", line):
                        raise Refused(line.decode().strip())
                    print(line.decode().strip(), file=sys.stderr)  # such as what the agent is not permitted
        raise OSError("it is closed")

    def login(self, nonce):
        """Prove who the agent is: sign what the server has made up, with the key."""
        try:
            with open(f"{self.directory}/credentials/agent-{NAME}.nk", encoding="ascii") as file:
                seed = file.read().strip()
        except FileNotFoundError as error:  # podium.yaml has never had it, or it was revoked
            raise Refused(error) from error
        raw = base64.b32decode(seed + "=" * (-len(seed) % 8))  # two bytes of type, 32 of seed, two of checksum
        key = nacl.signing.SigningKey(raw[2:34])
        public = bytes([20 << 3]) + bytes(key.verify_key)  # 20 << 3 makes it begin with U, for user
        public += binascii.crc_hqx(public, 0).to_bytes(2, "little")
        signature = base64.urlsafe_b64encode(key.sign(nonce.encode()).signature)
        return {
            "nkey": base64.b32encode(public).decode().rstrip("="), "sig": signature.decode().rstrip("="),
            "verbose": False, "pedantic": False, "headers": True, "no_responders": True,
            "name": NAME, "lang": "python", "version": "1",
        }

    def receive(self, verb, arguments, lines):
        """Take one message: `MSG subject id [reply] size`, with headers `HMSG subject id [reply] size-of-headers size`."""
        size = int(arguments.pop())
        content = lines.read(size + 2)[:size]
        status, headers = "", {}
        if verb == b"HMSG":
            end = int(arguments.pop())
            first, *rest = content[:end].decode().split("\r\n")
            status = first.removeprefix("NATS/1.0").strip()
            headers = dict(line.split(":", 1) for line in rest if line)
            headers = {key: value.strip() for key, value in headers.items()}
            content = content[end:]
        reply = arguments[2].decode() if len(arguments) > 2 else ""
        receiver = self.receivers.get(int(arguments[1]))
        if receiver:
            receiver(Message(reply, headers, content, status))

    def send(self, data):
        with self.lock:
            if self.socket is None:
                raise OSError("there is no connection")
            self.socket.sendall(data)

    def publish(self, subject, data=b"", headers=None, reply=""):
        head = b""
        if headers:
            head = b"NATS/1.0\r\n" + b"".join(f"{key}: {value}\r\n".encode() for key, value in headers.items()) + b"\r\n"
        sizes = f"{len(head)} {len(head) + len(data)}" if head else f"{len(data)}"
        verb = "HPUB" if head else "PUB"
        self.send(f"{verb} {subject} {reply} {sizes}\r\n".encode() + head + data + b"\r\n")

    def subscribe(self, subject, receiver):
        number = next(self.ids)
        with self.lock:
            self.receivers[number], self.lasting[number] = receiver, subject
            if self.socket is not None:
                self.socket.sendall(f"SUB {subject} {number}\r\n".encode())

    def request(self, subject, data=b"", headers=None, timeout=10):
        """Return the first answer, or None."""
        number, answers = next(self.ids), queue.Queue()
        inbox = f"_INBOX_{NAME}.{uuid.uuid4().hex}"  # with any other prefix, nothing is answered
        self.receivers[number] = answers.put
        try:
            self.send(f"SUB {inbox} {number}\r\nUNSUB {number} 1\r\n".encode())
            self.publish(subject, data, headers, inbox)
            return answers.get(timeout=timeout)
        except (OSError, queue.Empty):
            return None
        finally:
            del self.receivers[number]
            try:
                self.send(f"UNSUB {number}\r\n".encode())
            except OSError:
                pass  # a subscription ends with its connection


# --- The agent


class Unwanted(Exception):
    """Nobody waits for the answer any more."""


class Held:
    """A request that is under way."""

    def __init__(self, message):
        self.message = message
        self.id, self.reply_to = self.header("id"), self.header("replyto") or subject("response")
        self.expires = datetime.strptime(self.header("expires")[:19] + "Z", "%Y-%m-%dT%H:%M:%S%z")
        self.stopped, self.done = threading.Event(), threading.Event()
        self.last, self.told = (0, "at work"), 0.0  # what was said of it, and when that went out

    def header(self, attribute):
        return urllib.parse.unquote(self.message.headers.get(f"ce-{attribute}", ""))

    def tell(self, acknowledgement):
        """Send +WPI, +ACK or -NAK. Should it be lost, the request comes again."""
        try:
            nats.publish(self.message.reply, acknowledgement)
        except OSError:
            pass

    def check(self):
        if datetime.now(timezone.utc) > self.expires:
            self.stopped.set()
        if self.stopped.is_set():
            raise Unwanted

    def tries(self):
        """Yield until nobody waits any more, once a second but for the first time."""
        self.check()
        yield
        while True:
            self.stopped.wait(1)
            self.check()
            yield


def subject(last):
    return f"podium.agent.{NAME}.{last}"


def stay_known():
    """Announce the agent, and say that it is alive."""
    about = {"name": NAME, "kind": "python", "description": "Writes in capital letters.", "kinds": ["work"], "concurrency": CONCURRENCY}
    service = "announce"
    while True:
        answer = nats.request(subject(service), json.dumps(about).encode() if service == "announce" else b"", timeout=5)
        refused = "503" if answer is None or answer.status else answer.headers.get("Nats-Service-Error-Code")
        if refused == "403":
            end()
        if not refused:
            service = "alive"
        if refused == "500":
            service = "announce"
        time.sleep(1 if refused else 10)


def take_requests():
    """Have one request at a time: the others wait better in the stream."""
    while True:
        message = nats.request(f"CORE.API.CONSUMER.MSG.NEXT.PODIUM_WORK.{NAME}", b'{"batch": 1, "expires": 10000000000}', timeout=12)
        if message is None or message.status:  # none came
            if message is None or not message.status.startswith(("404", "408")):
                time.sleep(1)
            continue
        if "ce-id" not in message.headers:  # no request of Podium's
            nats.request(message.reply, b"+ACK")
            continue
        try:
            handle(Held(message))
        except Exception:
            traceback.print_exc()


def handle(held):
    known = working.setdefault(held.id, held)
    if known is not held:  # handed out again, while this process is at it
        known.message = held.message
        return
    try:
        threading.Thread(target=keep, args=(held,), daemon=True).start()
        held.check()
        body = get(held) if held.header("dataref") else held.message.data
        request = json.loads(body)
        plan = request["payload"]["plan_id"]
        threading.Thread(target=pulse, args=(held, request), daemon=True).start()

        def say(percentage, words):  # at once, but once a second at most
            held.last = (percentage, words)
            if time.monotonic() - held.told >= 1:
                held.told = time.monotonic()
                progress(held, request)

        outcome = {"plan_id": plan, "status": "completed"}
        try:
            outcome["result"] = {"text": answerable(request["payload"]["tasks"][0], say, held.stopped)}
        except Exception as error:
            told = isinstance(error, Failure)
            if not told:
                traceback.print_exc()
            outcome = {"plan_id": plan, "status": "failed", "issues_encountered": [{
                "severity": "high", "description": str(error) if told else "The clerk could not do it.",
                "resolution": "escalated" if isinstance(error, Hopeless) else "deferred",
            }]}
        answer(held, request, outcome)
    except Unwanted:
        print(f"{held.id}: nobody waits any more", flush=True)
    except Exception:
        held.tell(b'-NAK {"delay": 5000000000}')  # it could not be read, or not be answered: once more, in 5 s
        raise
    finally:
        held.done.set()
        del working[held.id]
    nats.request(held.message.reply, b"+ACK")  # it is dealt with. Should this be lost, it comes again, and the same is answered


def answerable(task, say, stopped):
    """Do work, and no question that the announcement does not declare."""
    kind = task.get("context", {}).get("kind") or "work"
    if kind != "work":
        raise Hopeless(f"This agent does not answer requests of kind {kind}.")
    return work(task, say, stopped)


def keep(held):
    """Keep the request: without +WPI it is handed out again after 15 s."""
    while not held.done.wait(5):
        held.tell(b"+WPI")
        try:
            held.check()
        except Unwanted:
            pass  # whoever works on it finds out


def pulse(held, request):
    """Say that work has begun, then one more every heartbeat, also when nothing is new."""
    while not held.done.is_set() and not held.stopped.is_set():
        progress(held, request)
        held.done.wait(HEARTBEAT)


def progress(held, request):
    to = held.reply_to.replace(f"{NAME}.response", f"{NAME}.progress")
    percentage, words = held.last
    try:
        nats.publish(to, envelope(request, "progress_update", str(uuid.uuid4()), {
            "plan_id": request["payload"]["plan_id"], "progress_percentage": percentage, "message": words,
        }))
    except OSError:
        pass  # the next one tells more


def envelope(request, kind, message_id, payload):
    return json.dumps({
        "message_id": message_id, "type": kind, "from": NAME, "to": request["from"],
        "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "in_reply_to": request["message_id"], "payload": payload,
    }).encode()


def answer(held, request, payload):
    # The id follows from the request's: whoever answers it again says the same.
    message_id = str(uuid.uuid5(uuid.UUID(request["message_id"]), "response"))
    body, headers = envelope(request, "execution_response", message_id, payload), None
    if len(body) > 256 * 1024:
        kept = put(held, body, "application/json")
        headers = {
            "ce-specversion": "1.0", "ce-id": message_id, "ce-source": f"/podium/{NAME}", "ce-type": "podium.execution_response.v1",
            "ce-causationid": request["message_id"], "ce-dataref": "podium-artifact:" + kept["sha256"],
            "ce-datahash": kept["sha256"], "ce-datasize": kept["size"], "ce-datagrant": kept["grant"],
        }
        body = b""
    for _ in held.tries():  # until it is stored: it counts once, however often it is sent
        said = nats.request(held.reply_to, body, headers)
        if said is None or said.status:
            continue
        outcome = json.loads(said.data)
        if "stream" in outcome:
            return
        if outcome["error"]["code"] == 400:
            raise ValueError(outcome["error"]["description"])


# --- Bodies that are too large for a message

PIECE = 512 * 1024


def artifact(held, line, content=b""):
    """Ask the store: a line of JSON, a line feed, and bytes. It answers likewise."""
    for _ in held.tries():
        reply = nats.request(subject("artifact"), json.dumps(line).encode() + b"\n" + content)
        if reply is None or reply.status or reply.headers.get("Nats-Service-Error-Code") == "503":
            continue
        if "Nats-Service-Error" in reply.headers:
            raise ValueError(reply.headers["Nats-Service-Error"])
        said, _, rest = reply.data.partition(b"\n")
        said = json.loads(said)
        if "error" not in said:
            return said, rest
        if said["error"] != "busy":
            raise ValueError(f"the store of artifacts says: {said['error']}")
    raise AssertionError("tries end by an exception only")


def get(held):
    line = {"op": "get", "request": held.id, "sha256": held.header("dataref").removeprefix("podium-artifact:"), "grant": held.header("datagrant")}
    whole, size = b"", 1
    while len(whole) < size:
        said, content = artifact(held, {**line, "offset": len(whole)})
        whole, size = whole + content, said["size"]
    return whole


def put(held, content, media_type):
    parts = [artifact(held, {"op": "put", "media_type": media_type}, content[at : at + PIECE])[0] for at in range(0, len(content), PIECE)]
    if len(parts) == 1:
        return parts[0]
    join = {"op": "join", "media_type": media_type, "sha256": hashlib.sha256(content).hexdigest()}
    return artifact(held, {**join, "parts": [part["sha256"] for part in parts], "grants": [part["grant"] for part in parts]})[0]


def cancel(hint):
    held = working.get(hint.data.decode())
    if held:
        held.stopped.set()


def main():
    global nats
    nats = Nats(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("PODIUM_DATA", "podium-data"))
    nats.subscribe(subject("cancel"), cancel)
    for job in [stay_known] + [take_requests] * CONCURRENCY:
        threading.Thread(target=job, daemon=True).start()
    print(f"{NAME} takes requests; Ctrl-C stops it", flush=True)
    ended = threading.Event()
    for end in (signal.SIGINT, signal.SIGTERM):
        signal.signal(end, lambda *_: ended.set())
    ended.wait()
    for held in list(working.values()):
        # Another process shall have it: in a second, because at once it would come to this one, which still asks for requests.
        held.tell(b'-NAK {"delay": 1000000000}')


working = {}  # what is under way, by message_id
nats = None  # the connection, once it is started

if __name__ == "__main__":
    main()
