"""An endpoint of an asynchronous agent: it accepts work with 202, does it, and posts the answer to the callback.

It needs nothing but Python, and OFFICE_SECRET, the secret of the agent in podium.yaml.
"""

import base64, hashlib, hmac, json, os, threading, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["OFFICE_SECRET"].removeprefix("whsec_"))
work = {}  # by webhook-id, which every attempt has: where to answer, and the answer when it is there
lock = threading.Lock()


def sign(name, seconds, body):
    """Standard Webhooks 1.0."""
    mac = hmac.new(KEY, f"{name}.{seconds}.".encode() + body, hashlib.sha256)
    return "v1," + base64.b64encode(mac.digest()).decode()


def do(name, request):
    """The work itself, which may take hours."""
    time.sleep(float(os.environ.get("OFFICE_SECONDS", "5")))
    words = request["payload"]["tasks"][0]["description"]
    answer = json.dumps({"status": "completed", "result": {"text": f"Done: {words}"}}).encode()
    with lock:
        work[name]["answer"] = answer
    while True:  # until it is taken: the same answer may be sent as often as one likes
        seconds = str(int(time.time()))
        headers = {"Content-Type": "application/json", "Webhook-Id": name, "Webhook-Timestamp": seconds,
                   "Webhook-Signature": sign(name, seconds, answer)}
        try:
            urllib.request.urlopen(urllib.request.Request(work[name]["callback"], answer, headers)).close()
            return
        except urllib.error.HTTPError as refused:
            if refused.code < 500 and refused.code != 429:
                print(refused.code, refused.read().decode(), flush=True)
                return  # it is wrong, or too late
        except OSError:
            pass  # Podium is away
        time.sleep(1)


class Office(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        name, seconds = self.headers["Webhook-Id"], self.headers["Webhook-Timestamp"]
        signed = hmac.compare_digest(self.headers.get("Webhook-Signature", ""), sign(name, seconds, body))
        if not signed or abs(time.time() - int(seconds)) > 300:
            self.send_error(401)
            return
        with lock:
            known = name in work
            entry = work.setdefault(name, {"answer": b""})
            entry["callback"] = self.headers["Podium-Callback"]  # that of the newest attempt
            answer = entry["answer"]
        if not known:
            threading.Thread(target=do, args=(name, json.loads(body)), daemon=True).start()
        self.send_response(200 if answer else 202)  # another attempt at what is done already gets it at once
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("OFFICE_PORT", "9000"))), Office).serve_forever()
