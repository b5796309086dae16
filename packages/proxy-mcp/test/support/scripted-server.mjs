/**
 * A small MCP server on raw lines, for what real servers do not do: odd bytes, requests to the
 * client, dying in the middle of a call. argv[2]: JSON of { name?, version?, capabilities?, tools?,
 * silent?, exitAtStart?, instructions?, starts? (a file that gets a line at each start), later? (what
 * differs after the first), resource? (more of its resource), heldUntil? (a file: before it exists nothing is read) }. Everything it receives it keeps; a
 * `ping` with `received` returns it.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

let options = JSON.parse(process.argv[2] ?? "{}");
// Which start of it this is: the one after a death may be another.
if (options.starts !== undefined) {
  appendFileSync(options.starts, `${process.pid}\n`);
  const starts = readFileSync(options.starts, "utf8").trimEnd().split("\n").length;
  if (starts > 1) options = { ...options, ...options.later };
}
if (options.exitAtStart !== undefined) {
  process.stderr.write("cannot read my configuration\n");
  process.exit(options.exitAtStart);
}
const name = options.name ?? "scripted";
const received = [];
const answers = new Map();
let nextId = 0;
let heldList;
let hanging;
let hangingId;
/** What `leak` knows: from the start, and what a call gave to it. */
let secrets = options.secrets ?? {};

const TOOLS = options.tools ?? [
  {
    name: "echo",
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    vendor: { hint: 1 },
  },
  {
    name: "typed",
    inputSchema: {
      type: "object",
      properties: { count: { type: "integer", minimum: 1 } },
      required: ["count"],
      additionalProperties: false,
    },
  },
  {
    name: "structured",
    inputSchema: { type: "object" },
    outputSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
  },
  ...["die", "hang", "sample", "progress", "task", "fail", "link", "huge", "leak"].map((tool) => ({
    name: tool,
    inputSchema: { type: "object" },
  })),
];

const write = (text) => process.stdout.write(`${text}\n`);
const send = (message) => write(JSON.stringify({ jsonrpc: "2.0", ...message }));
const result = (id, value) => send({ id, result: value });
const text = (value) => ({ content: [{ type: "text", text: value }] });
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = nextId++;
    answers.set(id, resolve);
    send({ id, method, params });
  });

/**
 * Says things with `$NAME` in them, the value of that secret in their place; `$ID` is the request's
 * id.
 */
function leak({ id, lines = [], stderr = [] }) {
  const fill = (template) =>
    Object.entries({ ...secrets, ID: JSON.stringify(id), PADDING: "x".repeat(10_400_000) }).reduce(
      (filled, [each, value]) => filled.replaceAll(`$${each}`, value),
      template,
    );
  for (const each of stderr) process.stderr.write(fill(each));
  for (const each of lines) write(fill(each));
}

const CALLS = {
  // The answer has odd blanks, a digits-only number beyond 2^53, an escape that no serialiser
  // writes, and members of its own.
  echo: ({ id, line }) =>
    write(
      `{ "jsonrpc":"2.0",\t"id": ${JSON.stringify(id)},"result":{"content":[{"type":"text","text":${JSON.stringify(line)}}],"n":12345678901234567890,"\\u0076endor":1.0} }`,
    ),
  typed: ({ id, params }) => result(id, text(`count ${params.arguments.count}`)),
  structured: ({ id }) => result(id, { ...text("ok"), structuredContent: { ok: true } }),
  received: ({ id }) => result(id, text(JSON.stringify(received))),
  die: () => process.exit(3),
  hang({ id, params }) {
    hanging = params["_meta"]?.progressToken;
    hangingId = id;
  },
  "nudge-large"({ id }) {
    result(hangingId, text("x".repeat(20_000)));
    result(id, text("nudged"));
  },
  nudge({ id }) {
    send({ method: "notifications/progress", params: { progressToken: hanging, progress: 9 } });
    result(id, text("nudged"));
  },
  fail: ({ id }) =>
    send({
      id,
      error: { code: -31234, message: "no such thing", data: { deep: [1, { x: null }] } },
    }),
  link: ({ id }) =>
    result(id, { content: [{ type: "resource_link", uri: "scripted://linked", name: "linked" }] }),
  huge: ({ id }) => result(id, text("x".repeat(11 * 1024 * 1024))),
  leak({ id, params }) {
    secrets = { ...secrets, ...params.arguments.secrets };
    leak({ id, ...params.arguments });
  },
  async sample({ id, params }) {
    const answer = await ask(params.arguments.method, {
      ...params.arguments.params,
      _meta: { progressToken: 0 },
    });
    result(id, text(answer));
  },
  answer: ({ id, params }) => send({ id, ...params.arguments }),
  progress({ id, params }) {
    const { progressToken } = params["_meta"] ?? {};
    for (const progress of [1, 2])
      send({ method: "notifications/progress", params: { progressToken, progress, total: 2 } });
    result(id, text("done"));
  },
  task({ id, params }) {
    result(id, {
      task: { taskId: `${name}-task`, status: "working", ttl: params.task?.ttl ?? null },
    });
    send({
      method: "notifications/progress",
      params: { progressToken: params["_meta"]?.progressToken, progress: 1 },
    });
  },
};

const METHODS = {
  initialize({ id, params }) {
    result(id, {
      protocolVersion: options.version ?? params.protocolVersion,
      capabilities: options.capabilities ?? {
        tools: { listChanged: true },
        prompts: {},
        resources: { subscribe: true },
        logging: {},
        completions: {},
        tasks: {},
        "vendor.x": { deep: [1] },
      },
      serverInfo: { name, version: "1", vendor: true },
      ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
      _meta: { "vendor/x": 1 },
    });
    if (options.announce === true)
      send({ method: "notifications/message", params: { level: "info", data: "initialized" } });
  },
  ping: ({ id, params }) => result(id, params?.received === true ? { received } : {}),
  "tools/list": ({ id, params }) => {
    if (options.heldList === true) return void (heldList = id);
    const at = Number(params?.cursor ?? 0);
    const size = options.pageSize ?? TOOLS.length;
    result(id, {
      tools: TOOLS.slice(at, at + size),
      ...(at + size < TOOLS.length ? { nextCursor: String(at + size) } : {}),
    });
  },
  "tools/call": (message) =>
    (
      CALLS[message.params?.name] ??
      (() => send({ id: message.id, error: { code: -32602, message: "Unknown tool" } }))
    )(message),
  "resources/list": ({ id }) =>
    result(id, { resources: [{ uri: `${name}://doc`, name: "doc", ...options.resource }] }),
  "resources/templates/list": ({ id }) =>
    result(id, { resourceTemplates: [{ uriTemplate: `${name}://item/{id}`, name: "item" }] }),
  "resources/read": ({ id, params }) =>
    params.uri.startsWith(`${name}://`)
      ? result(id, { contents: [{ uri: params.uri, text: name }] })
      : send({ id, error: { code: -32002, message: "Resource not found" } }),
  "resources/subscribe": ({ id, params }) => {
    if (params.uri.endsWith("/held")) return;
    if (params.uri.endsWith("/refused")) return unknown({ id, method: "resources/subscribe" });
    result(id, {});
    send({ method: "notifications/resources/updated", params: { uri: params.uri } });
  },
  "resources/unsubscribe": ({ id }) => result(id, {}),
  "prompts/list": ({ id, params }) =>
    result(id, { prompts: [{ name: "greet", arguments: [] }], ...params?.inner }),
  "prompts/get": ({ id, params }) =>
    params.name !== "hold" && result(id, { messages: [], description: `${name} ${params.name}` }),
  "completion/complete": ({ id, params }) =>
    result(id, { completion: { values: [`${name} ${params.ref.name ?? params.ref.uri}`] } }),
  "logging/setLevel": ({ id, params }) => {
    result(id, {});
    send({
      method: "notifications/message",
      params: { level: params.level, logger: name, data: "level set" },
    });
  },
  "tasks/get": ({ id, params }) =>
    result(id, { taskId: params.taskId, status: "completed", by: name }),
  "tasks/list": ({ id }) =>
    result(id, { tasks: [{ taskId: `${name}-task`, status: "completed" }] }),
  "vendor/echo": ({ id, line }) =>
    write(
      `{"result":{"got":${JSON.stringify(line)},"n":123456789012345678901234567890},  "id":${JSON.stringify(id)},"jsonrpc":"2.0"}`,
    ),
  "vendor/change-tools": ({ id, params }) => {
    TOOLS.splice(0, TOOLS.length, ...params.tools);
    send({ method: "notifications/tools/list_changed" });
    result(id, {});
  },
  "vendor/say": ({ id, params }) => {
    for (let time = 0; time < (params.times ?? 1); time++)
      for (const line of params.lines) write(line);
    result(id, {});
  },
  "vendor/leak": ({ id, params }) => leak({ id, ...params }),
  "vendor/release-list": ({ id }) => {
    result(heldList, { tools: TOOLS });
    result(id, {});
  },
  "test/exit": () => process.exit(3),
  "test/read-no-more": () => {
    process.stdin.pause();
    setInterval(() => {}, 1_000);
  },
};

while (options.heldUntil !== undefined && !existsSync(options.heldUntil))
  await new Promise((resolve) => setTimeout(resolve, 20));
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  received.push(line);
  if (options.silent !== true) take(line);
});
if (options.farewell !== undefined) lines.on("close", () => write(options.farewell));

function take(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    send({ id: null, error: { code: -32700, message: "Parse error" } });
    return;
  }
  const { id, method } = message;
  if (method === undefined) answers.get(id)?.(line);
  else if (id !== undefined) (METHODS[method] ?? unknown)({ ...message, line });
}

function unknown({ id, method }) {
  send({ id, error: { code: -32601, message: "Method not found", data: { method } } });
}

if (options.greeting !== undefined) process.stderr.write(`${options.greeting}\n`);
