import assert from "node:assert/strict";
import { test } from "node:test";
import { work } from "./clerk.mjs";

const { signal } = new AbortController();

test("it writes in capital letters", async () => {
  assert.equal(await work({ description: "shout", context: { request: "shout hooray" } }, () => {}, signal), "SHOUT HOORAY");
});

test("it tells how far it is", async () => {
  const said = [];
  await work({ description: "in 1 seconds" }, (percentage, words) => said.push(`${percentage}% ${words}`), signal);
  assert.deepEqual(said, ["0% 1 seconds to go"]);
});

test("it fails where there is nothing to write", async () => {
  await assert.rejects(work({ description: "2 + 2" }, () => {}, signal), { message: "There is no letter in it." });
});
