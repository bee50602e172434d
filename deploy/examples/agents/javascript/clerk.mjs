// An agent for Podium: it writes what it is asked in capital letters, and text files that come along, too.
//
//   node clerk.mjs [data directory of podium]
//
// Without an argument the directory is PODIUM_DATA of the environment, else podium-data.
//
// `work` is what you replace. All below it can stay, but for the description in the announcement.

import { createHash, randomUUID } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { jetstream } from "@nats-io/jetstream";
import { connect, headers, nkeyAuthenticator } from "@nats-io/transport-node";

const name = "clerk"; // as podium.yaml has it, with `concurrency` and `heartbeat`
const concurrency = 2;
const heartbeat = 5_000;

class Failure extends Error {} // its words are for the person who waits
class Hopeless extends Failure {} // likewise, and no other attempt can help

// work does one task and returns its text, or the payload of an answer. say tells the person how far it is. When
// signal is aborted nobody waits for the result any more. files.open gives the bytes of an attachment of the
// request, and files.keep sends a file along with the answer.
async function work(task, say, signal, files) {
  const words = task.context?.request ?? task.description; // what the person wrote: data, never instruction
  if (!/\p{Letter}/u.test(words)) throw new Hopeless("There is no letter in it.");
  const seconds = Number(/in (\d+) seconds/.exec(words)?.[1] ?? 0);
  for (let passed = 0; passed < seconds; passed++) {
    say(Math.floor((100 * passed) / seconds), `${seconds - passed} seconds to go`);
    await pause(1_000, undefined, { signal });
  }
  for (const file of task.context?.attachments ?? []) {
    if (file.from !== "message" || file.media_type !== "text/plain") continue;
    const written = (await files.open(file)).toString().toUpperCase();
    await files.keep(`${file.id}.txt`, "text/plain", Buffer.from(written)); // file.name is data, and no path
  }
  return words.toUpperCase();
}

// --- Connecting

const data = process.argv[2] ?? process.env.PODIUM_DATA ?? "podium-data";
const key = `${data}/credentials/agent-${name}.nk`;
const subject = (last) => `podium.agent.${name}.${last}`;
const working = new Map(); // what is under way, by message_id
const notLetIn = `Podium does not let ${name} in: it was revoked, its key is another one by now, or podium.yaml does not have it as ` +
  `"kind: external". \`podium agents\` tells; \`podium agents add ${name}\` takes it in again, with a new key.`;
let nats, consumer, stopping = false;

async function start() {
  nats = await login().catch((error) => end(`${error.message}; does \`podium up\` run on ${data}, with an agent ${name}, whose key is ${key}?`));
  nats.subscribe(subject("cancel"), { callback: (refused, hint) => refused || working.get(hint.string())?.stop.abort() });
  nats.closed().then((error) => stopping || end(`${error?.message ?? "the connection is closed"}. ${notLetIn}`));
  tellErrors();
  stayKnown();
  consumer = await jetstream(nats, { apiPrefix: "CORE.API" }).consumers.get("PODIUM_WORK", name);
  for (let slot = 0; slot < concurrency; slot++) takeRequests();
  for (const told of ["SIGINT", "SIGTERM"]) process.once(told, giveBack);
  console.log(`${name} takes requests; Ctrl-C stops it`);
}

async function login() {
  return connect({
    servers: JSON.parse(readFileSync(`${data}/instance.json`, "utf8")).nats,
    authenticator: nkeyAuthenticator(new TextEncoder().encode(readFileSync(key, "utf8").trim())),
    inboxPrefix: `_INBOX_${name}`, // with any other, nothing is answered
    maxReconnectAttempts: -1, // for ever, but not when the key is refused
  });
}

// end has whoever watches the process start it again, when that can help.
function end(why) {
  console.error(why);
  process.exit(1);
}

// What the agent may not publish or hear is an error of the connection, not of the message.
async function tellErrors() {
  for await (const status of nats.status()) {
    if (status.type === "error") console.error(status.error.message);
  }
}

// stayKnown announces the agent, and says that it is alive.
async function stayKnown() {
  const about = JSON.stringify({ name, kind: "javascript", description: "Writes in capital letters.", kinds: ["work"], concurrency });
  for (let service = "announce"; !stopping; ) {
    const refused = await nats.request(subject(service), service === "announce" ? about : "", { timeout: 5_000 })
      .then((answer) => answer.headers?.get("Nats-Service-Error-Code"), () => "503");
    if (refused === "403") end(notLetIn);
    if (!refused) service = "alive";
    if (refused === "500") service = "announce";
    await pause(refused ? 1_000 : 10_000);
  }
}

// --- Requests

// takeRequests has one request at a time: the others wait better in the stream.
async function takeRequests() {
  while (!stopping) {
    try {
      const message = await consumer.next({ expires: 10_000 });
      if (message) await handle(message);
    } catch (error) {
      if (stopping) return;
      console.error(error.message); // such as a connection that is away for now
      await pause(1_000);
    }
  }
}

async function handle(message) {
  const header = (attribute) => decodeURIComponent(message.headers?.get(`ce-${attribute}`) ?? "");
  const id = header("id"), expires = Date.parse(header("expires"));
  if (!id) return message.ackAck(); // no request of Podium's
  const known = working.get(id);
  if (known) { // handed out again, while this process is at it
    known.message = message;
    return;
  }
  const held = { message, stop: new AbortController(), replyTo: header("replyto") || subject("response") };
  const { signal } = held.stop;
  working.set(id, held);
  // Without +WPI the request is handed out again after 15 s.
  const lease = setInterval(() => (Date.now() > expires ? held.stop.abort() : held.message.working()), 5_000);
  let pulse;
  try {
    if (Date.now() > expires) held.stop.abort();
    signal.throwIfAborted();
    const sha256 = header("dataref").replace("podium-artifact:", "");
    const body = sha256 ? (await get(id, sha256, header("datagrant"), signal)).toString() : message.string();
    const request = JSON.parse(body);
    // The first progress says that the work has begun; then one every heartbeat, also when nothing is new.
    let last = [0, "at work"], told = 0;
    const progress = () => nats.publish(held.replyTo.replace(`${name}.response`, `${name}.progress`), envelope(request, "progress_update", randomUUID(), {
      plan_id: request.payload.plan_id, progress_percentage: last[0], message: last[1],
    }));
    progress();
    pulse = setInterval(progress, heartbeat);
    const say = (...news) => { // at once, but once a second at most
      last = news;
      if (Date.now() - told < 1_000) return;
      told = Date.now();
      progress();
    };
    const made = [];
    const files = {
      open: (file) => get(id, file.sha256, file.grant, signal),
      keep: async (name, media_type, bytes) => made.push({ name, media_type, artifact: await put(bytes, media_type, signal) }),
    };
    const outcome = await answerable(request.payload.tasks[0], say, signal, files).then(
      (said) => {
        const payload = { status: "completed", ...(typeof said === "string" ? { result: { text: said } } : said) };
        if (made.length) payload.result = { ...payload.result, data: { ...payload.result?.data, attachments: made } };
        return payload;
      },
      (error) => {
        if (!(error instanceof Failure) && !signal.aborted) console.error(error);
        const description = error instanceof Failure ? error.message : "The clerk could not do it.";
        const resolution = error instanceof Hopeless ? "escalated" : "deferred";
        return { status: "failed", issues_encountered: [{ severity: "high", description, resolution }] };
      });
    signal.throwIfAborted();
    await answer(held, request, { plan_id: request.payload.plan_id, ...outcome });
  } catch (error) {
    if (!signal.aborted) { // it could not be read, or not be answered: once more, in 5 s
      held.message.nak(5_000);
      throw error;
    }
    console.log(`${id}: nobody waits any more`);
  } finally {
    clearInterval(pulse);
    clearInterval(lease);
    working.delete(id);
  }
  await held.message.ackAck(); // it is dealt with. Should this be lost, it comes again, and the same is answered
}

// answerable does work, and no question that the announcement does not declare.
async function answerable(task, ...rest) {
  const kind = task.context?.kind ?? "work";
  if (kind !== "work") throw new Hopeless(`This agent does not answer requests of kind ${kind}.`);
  return work(task, ...rest);
}

// giveBack leaves what is under way to another process: in a second, because at once it
// would come to this one, which still asks for requests.
async function giveBack() {
  stopping = true;
  for (const { message } of working.values()) message.nak(1_000);
  await nats.drain();
  process.exit();
}

// --- Answers

function envelope(request, type, message_id, payload) {
  return JSON.stringify({
    message_id, type, from: name, to: request.from, timestamp: new Date().toISOString(), in_reply_to: request.message_id, payload,
  });
}

async function answer({ replyTo, stop: { signal } }, request, payload) {
  // The id follows from the request's: whoever answers it again says the same.
  const id = uuid5(request.message_id, "response");
  const body = Buffer.from(envelope(request, "execution_response", id, payload));
  if (body.length <= 256 * 1024) return publish(replyTo, body, undefined, signal);
  const kept = await put(body, "application/json", signal);
  const about = headers();
  for (const [attribute, value] of Object.entries({
    specversion: "1.0", id, source: `/podium/${name}`, type: "podium.execution_response.v1", causationid: request.message_id,
    dataref: `podium-artifact:${kept.sha256}`, datahash: kept.sha256, datasize: String(kept.size), datagrant: kept.grant,
  })) about.set(`ce-${attribute}`, value);
  return publish(replyTo, "", about, signal);
}

// publish goes on until the message is stored. It counts once, however often it is sent.
async function publish(to, body, about, signal) {
  for (;; await pause(1_000, undefined, { signal })) {
    const said = await nats.request(to, body, { timeout: 10_000, headers: about }).then((reply) => reply.json(), () => undefined);
    if (said?.stream) return;
    if (said?.error?.code === 400) throw new Error(said.error.description);
  }
}

// --- Files, and bodies that are too large for a message

const piece = 512 * 1024;

// artifact asks the store: a line of JSON, a line feed, and bytes; and is answered so.
async function artifact(line, bytes, signal) {
  for (;; await pause(1_000, undefined, { signal })) {
    const frame = Buffer.concat([Buffer.from(JSON.stringify(line) + "\n"), bytes]);
    const reply = await nats.request(subject("artifact"), frame, { timeout: 10_000 }).catch(() => undefined);
    if (!reply || reply.headers?.get("Nats-Service-Error-Code") === "503") continue; // once more
    if (reply.headers?.get("Nats-Service-Error")) throw new Error(reply.headers.get("Nats-Service-Error"));
    const content = Buffer.from(reply.data), end = content.indexOf("\n");
    const said = JSON.parse(content.subarray(0, end).toString());
    if (said.error === "busy") continue;
    if (said.error) throw new Error(`the store of artifacts says: ${said.error}`);
    return [said, content.subarray(end + 1)];
  }
}

async function get(request, sha256, grant, signal) {
  let whole = Buffer.alloc(0), size;
  do {
    const [said, bytes] = await artifact({ op: "get", request, sha256, grant, offset: whole.length }, Buffer.alloc(0), signal);
    size = said.size;
    whole = Buffer.concat([whole, bytes]);
  } while (whole.length < size);
  return whole;
}

async function put(bytes, media_type, signal) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += piece) {
    parts.push((await artifact({ op: "put", media_type }, bytes.subarray(at, at + piece), signal))[0]);
  }
  if (parts.length === 1) return parts[0];
  const join = { op: "join", media_type, sha256: createHash("sha256").update(bytes).digest("hex"), parts: parts.map((p) => p.sha256), grants: parts.map((p) => p.grant) };
  return (await artifact(join, Buffer.alloc(0), signal))[0];
}

function uuid5(namespace, text) {
  const hash = createHash("sha1").update(Buffer.from(namespace.replaceAll("-", ""), "hex")).update(text).digest();
  hash[6] = (hash[6] & 0x0f) | 0x50;
  hash[8] = (hash[8] & 0x3f) | 0x80;
  return hash.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

export { work };

// A test imports this file, and starts nothing.
if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) await start();
