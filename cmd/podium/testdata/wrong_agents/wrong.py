#!/usr/bin/env python3
"""The clerk of deploy/examples/agents with one fault, which the first argument names."""

import json
import os
import sys
import threading
import time
import uuid
from datetime import datetime, timezone
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "deploy/examples/agents/python"))
fault = sys.argv.pop(1)

import clerk  # noqa: E402

request, envelope, handle, progress, answer = clerk.Nats.request, clerk.envelope, clerk.handle, clerk.progress, clerk.answer
check, tell, stay_connected = clerk.Held.check, clerk.Held.tell, clerk.Nats.stay_connected
once = threading.Lock()
told = set()


def leaves_out_the_plan(asked, kind, message_id, payload):
    said = json.loads(envelope(asked, kind, message_id, payload))
    said["payload"].pop("plan_id")
    return json.dumps(said).encode()


def answers_nobody(asked, kind, message_id, payload):
    if kind == "execution_response":
        asked = {**asked, "message_id": str(uuid.uuid4())}
    return envelope(asked, kind, message_id, payload)


def never_acknowledges(self, subject, data=b"", headers=None, timeout=10):
    return None if data == b"+ACK" else request(self, subject, data, headers, timeout)


def takes_a_refusal_for_a_yes(self, subject, data=b"", headers=None, timeout=10):
    said = request(self, subject, data, headers, timeout)
    if said and ".response." in subject and b'"error"' in said.data:
        said.data = b'{"stream": "none"}'
    return said


def dies_of_garbage(self, subject, data=b"", headers=None, timeout=10):
    message = request(self, subject, data, headers, timeout)
    if message and not message.status and "MSG.NEXT" in subject and "ce-id" not in message.headers:
        os._exit(7)
    return message


def tells_once(held, asked):
    if held.id not in told:
        told.add(held.id)
        progress(held, asked)


def tells_too_much(held, asked):
    for _ in range(200):
        progress(held, asked)


def keeps_nothing(self, acknowledgement):
    if acknowledgement != b"+WPI":
        tell(self, acknowledgement)


def one_after_the_other(held):
    with once:
        handle(held)


def acknowledges_first(held):
    clerk.nats.request(held.message.reply, b"+ACK")
    handle(held)


def waits_for_nobody(self):
    if self.stopped.is_set():
        raise clerk.Unwanted


def acts_all_the_same(held, asked, payload):
    question = {
        "message_id": str(uuid.uuid4()), "from": clerk.NAME, "to": asked["from"], "type": "permit_request",
        "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "in_reply_to": asked["message_id"],
    }
    if payload["status"] == "completed":
        clerk.nats.request(held.reply_to.replace(".response", ".permit"), json.dumps(question).encode())
    answer(held, asked, payload)


def reads_no_store(held):
    return held.message.data


def stays_away(self):
    try:
        self.converse(self.address())
    except OSError:
        pass
    self.socket = None
    time.sleep(600)


def eavesdrops(self):
    self.lasting[0] = "podium.agent.*.request"
    stay_connected(self)



faults = {
    "leaves-out-the-plan": lambda: setattr(clerk, "envelope", leaves_out_the_plan),
    "answers-nobody": lambda: setattr(clerk, "envelope", answers_nobody),
    "another-id-each-time": lambda: setattr(clerk.uuid, "uuid5", lambda *_: uuid.uuid4()),
    "never-acknowledges": lambda: setattr(clerk.Nats, "request", never_acknowledges),
    "takes-a-refusal-for-a-yes": lambda: setattr(clerk.Nats, "request", takes_a_refusal_for_a_yes),
    "dies-of-garbage": lambda: setattr(clerk.Nats, "request", dies_of_garbage),
    "tells-nothing": lambda: setattr(clerk, "progress", lambda *_: None),
    "tells-once": lambda: setattr(clerk, "progress", tells_once),
    "tells-too-much": lambda: setattr(clerk, "progress", tells_too_much),
    "keeps-nothing": lambda: setattr(clerk.Held, "tell", keeps_nothing),
    "one-after-the-other": lambda: setattr(clerk, "handle", one_after_the_other),
    "acknowledges-first": lambda: setattr(clerk, "handle", acknowledges_first),
    "answers-the-past": lambda: setattr(clerk.Held, "check", waits_for_nobody),
    "hears-no-hint": lambda: setattr(clerk, "cancel", lambda _: None),
    "answers-any-kind": lambda: setattr(clerk, "answerable", clerk.work),
    "asks-for-no-permit": lambda: None,
    "acts-all-the-same": lambda: setattr(clerk, "answer", acts_all_the_same),
    "reads-no-store": lambda: setattr(clerk, "get", reads_no_store),
    "stays-away": lambda: setattr(clerk.Nats, "stay_connected", stays_away),
    "eavesdrops": lambda: setattr(clerk.Nats, "stay_connected", eavesdrops),
    "ends-at-once": lambda: sys.exit("it has no mind to work"),
}
faults[fault]()
clerk.main()
