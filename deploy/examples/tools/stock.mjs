// A server of the Model Context Protocol with one tool, over standard input and output: one JSON-RPC message a line.
import { createInterface } from "node:readline";

const onHand = { A1203: 12, A1204: 0, B7001: 340 };

const tool = {
  name: "stock_level",
  description: "Says how many of an article are in stock.",
  inputSchema: {
    type: "object",
    required: ["article"],
    additionalProperties: false,
    properties: { article: { type: "string", title: "Article", pattern: "^[A-Z][0-9]{4}$" } },
  },
  outputSchema: {
    type: "object",
    required: ["article", "on_hand"],
    properties: { article: { type: "string" }, on_hand: { type: "integer" } },
  },
  annotations: { readOnlyHint: true },
};

// call answers with data, and with text for who cannot read it. What cannot be answered is an error of the tool.
function call({ article }) {
  if (!Object.hasOwn(onHand, article)) {
    return { isError: true, content: [{ type: "text", text: `There is no article ${article}.` }] };
  }
  const data = { article, on_hand: onHand[article] };
  return { structuredContent: data, content: [{ type: "text", text: JSON.stringify(data) }] };
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: protocolVersion > "2025-06-18" ? "2025-06-18" : protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "stock", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": ({ arguments: given }) => call(given),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return; // a notification
  const answer = Object.hasOwn(methods, method)
    ? { result: methods[method](params) }
    : { error: { code: -32601, message: `there is no method ${method}` } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\n");
});
