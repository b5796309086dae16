/**
 * The same client script against a server directly and through the proxy: what the client sees and
 * what the server gets must be the same bytes. Each test counts the differences; the expected
 * number is 0.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { directClient, type LineClient, type Message } from "./support/line-client.js";
import { ALLOW_ALL, proxied, scripted } from "./support/proxied.js";

const require = createRequire(import.meta.url);
const packageFile = (name: string, file: string): string =>
  join(dirname(require.resolve(`${name}/package.json`)), file);
const FILESYSTEM = packageFile("@modelcontextprotocol/server-filesystem", "dist/index.js");
const EVERYTHING = packageFile("@modelcontextprotocol/server-everything", "dist/index.js");

type Script = (client: LineClient) => Promise<void>;

/** Answers what a server asks, as a client with sampling, elicitation and roots would. */
function answerServer(client: LineClient, answers: Readonly<Record<string, object>>): void {
  const answered = new Set<string>();
  const look = (): void => {
    for (const line of client.lines) {
      if (answered.has(line)) continue;
      answered.add(line);
      const { id, method } = tryParse(line);
      if (id !== undefined && id !== null && method !== undefined)
        client.send({
          id,
          ...(answers[method] ?? { error: { code: -32601, message: "none", data: [1, null] } }),
        });
    }
  };
  client.onLine(look);
}

function tryParse(line: string): Message {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return {};
  }
}

/**
 * What differs between the two runs. Order between answers of concurrent requests is the server's;
 * each line must be there as often.
 */
async function differences(
  command: readonly string[],
  script: Script,
  normalise: (line: string) => string = (line) => line,
): Promise<readonly string[]> {
  const direct = directClient(command);
  await script(direct);
  direct.end();
  const p = proxied({ policy: ALLOW_ALL, upstreams: [{ name: "server", command }] });
  await script(p.client);
  await p.proxy.close();
  const [seen, wanted] = [p.client, direct].map(({ lines }) => lines.map(normalise)) as [
    string[],
    string[],
  ];
  return [
    ...without(wanted, seen).map((line) => `missing: ${line}`),
    ...without(seen, wanted).map((line) => `added: ${line}`),
  ];
}

/** The lines of `some` that `others` does not have, or has less often. */
function without(some: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return some.filter((line) => {
    const at = left.indexOf(line);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

const CLIENT = {
  protocolVersion: "2025-11-25",
  capabilities: {
    sampling: {},
    elicitation: { form: {}, url: {} },
    roots: { listChanged: true },
    "x.unknown": { a: [1] },
  },
  clientInfo: { name: "t", version: "1", vendor: 1 },
};

async function open(client: LineClient): Promise<void> {
  await client.request("init", "initialize", CLIENT);
  client.send({ method: "notifications/initialized" });
}

describe("through the proxy and directly the client sees the same", () => {
  it("with odd bytes, unknown methods, server requests, notifications, errors and lines that are no messages", async () => {
    const script: Script = async (client) => {
      answerServer(client, {
        "sampling/createMessage": {
          result: { role: "assistant", content: { type: "text", text: "ok" }, model: "m", big: 1 },
        },
        "elicitation/create": { result: { action: "accept", content: {} } },
        "roots/list": { result: { roots: [{ uri: "file:///x" }] } },
      });
      await open(client);
      client.raw('{"method":"notifications/roots/list_changed" ,"jsonrpc":"2.0","vendor":1}\r\n');
      client.raw(
        '\t{"jsonrpc" : "2.0","id":"\\u0061","method":"vendor\\/echo","params":{"s":"\\ud83d\\ude00 é","deep":[[[[{}]]]],"f":1.0e+2}}  \n',
      );
      await client.find(({ id, method }) => id === "a" && method === undefined);
      // What is not judged may hold what no gate could read.
      client.raw(
        '{"id":"p","method":"ping","params":{"n":123456789012345678901234567890,"s":"\\ud800"}, "jsonrpc":"2.0"}\n',
      );
      for (const method of [
        "ping",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "vendor/unknown",
        "server/discover",
      ])
        await client.request(`m ${method}`, method, {});
      await client.request(1, "resources/read", { uri: "scripted://doc" });
      await client.request(2, "resources/read", { uri: "nowhere://x" });
      await client.request(3, "resources/subscribe", { uri: "scripted://doc" });
      await client.request(4, "prompts/get", { name: "greet" });
      await client.request(5, "completion/complete", {
        ref: { type: "ref/prompt", name: "greet" },
        argument: { name: "a", value: "b" },
      });
      await client.request(6, "logging/setLevel", { level: "debug" });
      client.raw(
        '{"id":7 , "params":{"arguments":{"text":"\\u0061\\/"},"name":"echo","_meta":{"progressToken":1.0}},"method":"tools/call","jsonrpc":"2.0"}\n',
      );
      await client.find(({ id }) => id === 7);
      await client.call(8, "fail", {});
      await client.call(9, "nonesuch");
      await client.call(10, "progress", {}, { _meta: { progressToken: "tok" } });
      await client.call(11, "task", {}, { task: { ttl: 5 }, _meta: { progressToken: 3 } });
      await client.request(12, "tasks/list", {});
      await client.request(13, "tasks/get", { taskId: "scripted-task" });
      for (const [index, method] of [
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
      ].entries())
        await client.call(20 + index, "sample", { method, params: { messages: [] } });
      await client.request(30, "vendor/say", {
        lines: [
          "not a message",
          "",
          '{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}',
          '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","x":1 }',
        ],
      });
      client.send({
        method: "notifications/cancelled",
        params: { requestId: "unknown", reason: "x" },
      });
      client.send({ method: "notifications/progress", params: { progressToken: 0, progress: 1 } });
      await client.request("end", "ping", { received: true });
    };
    expect(await differences(scripted(), script)).toEqual([]);
  });

  it("with server-everything", async () => {
    const script: Script = async (client) => {
      answerServer(client, {
        "sampling/createMessage": {
          result: {
            role: "assistant",
            content: { type: "text", text: "sampled" },
            model: "m",
            stopReason: "endTurn",
          },
        },
        "elicitation/create": { result: { action: "decline" } },
        "roots/list": { result: { roots: [{ uri: "file:///tmp/r", name: "r" }] } },
      });
      await open(client);
      await client.find(({ method }) => method === "roots/list");
      for (const method of [
        "ping",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "vendor/unknown",
      ])
        await client.request(`m ${method}`, method, {});
      await client.request(1, "resources/read", {
        uri: "demo://resource/static/document/architecture.md",
      });
      await client.request(2, "resources/read", { uri: "demo://nowhere" });
      await client.request(3, "resources/subscribe", {
        uri: "demo://resource/static/document/architecture.md",
      });
      await client.request(4, "prompts/get", { name: "args-prompt", arguments: { city: "Bern" } });
      await client.request(5, "completion/complete", {
        ref: { type: "ref/prompt", name: "completable-prompt" },
        argument: { name: "department", value: "E" },
      });
      await client.request(6, "logging/setLevel", { level: "debug" });
      await client.call(10, "echo", { message: "grüezi" });
      await client.call(11, "get-sum", { a: 1, b: 2.5 });
      await client.call(12, "get-structured-content", { location: "Chicago" });
      await client.call(13, "get-tiny-image", {});
      await client.call(14, "get-annotated-message", { messageType: "error" });
      await client.call(
        15,
        "trigger-long-running-operation",
        { duration: 0.2, steps: 4 },
        { _meta: { progressToken: "long" } },
      );
      await client.call(16, "trigger-sampling-request", { prompt: "hi", maxTokens: 10 });
      await client.call(17, "trigger-elicitation-request", {});
      await client.call(18, "get-roots-list", {});
      await client.call(19, "get-resource-links", { count: 2 });
      await client.call(20, "nonesuch", {});
      client.send({
        id: 21,
        method: "tools/call",
        params: { name: "trigger-long-running-operation", arguments: { duration: 4, steps: 1 } },
      });
      client.send({
        method: "notifications/cancelled",
        params: { requestId: 21, reason: "enough" },
      });
      await client.request("end", "ping");
    };
    expect(
      await differences([process.execPath, EVERYTHING, "stdio"], script, (line) =>
        line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z|\d{1,2}:\d\d:\d\d(?: [AP]M)?/g, "<time>"),
      ),
    ).toEqual([]);
  });

  it("with server-filesystem", async () => {
    const folder = mkdtempSync(join(tmpdir(), "proxy-mcp-"));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    const script: Script = async (client) => {
      writeFileSync(join(folder, "a.txt"), "hello\n");
      await open(client);
      for (const method of ["ping", "tools/list", "resources/list", "vendor/unknown"])
        await client.request(`m ${method}`, method, {});
      await client.call(1, "read_text_file", { path: join(folder, "a.txt") });
      await client.call(2, "list_directory", { path: folder });
      await client.call(3, "read_text_file", { path: "/etc/passwd" });
      await client.call(4, "write_file", {
        path: join(folder, "a.txt"),
        content: "hello\n\u2028y",
      });
      await client.call(5, "nonesuch", {});
      await client.call(6, "list_allowed_directories");
    };
    // Without roots, so that the server keeps the folder of its command line.
    const plain: Script = async (client) =>
      script({
        ...client,
        request: (id, method, params) =>
          client.request(
            id,
            method,
            method === "initialize" ? { ...CLIENT, capabilities: {} } : params,
          ),
      });
    expect(await differences([process.execPath, FILESYSTEM, folder], plain)).toEqual([]);
  });
});
