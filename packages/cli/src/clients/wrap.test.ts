/** Clients' settings with the gate in front of their servers, and without it again. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CLIENT_IDS, placesOfUser } from "./known-clients.js";
import type { ClientId, ClientPlace } from "./known-clients.js";
import { planUnwrap, planWrap, serversIn } from "./wrap.js";
import type { Front, WrapChange } from "./wrap.js";
import { withoutAcp } from "./without-acp.js";

const front: Front = { program: ["/usr/bin/node", "/opt/acp/bin/acp.cjs"], options: [] };
const all = (): boolean => true;

function placeOf(client: ClientId): ClientPlace {
  const place = { platform: "linux", userHome: "/home/ada", env: {} } as const;
  const found = placesOfUser(place).find((each) => each.client === client);
  if (found === undefined) throw new Error(client);
  return found;
}

function wrapped(client: ClientId, text: string): WrapChange {
  const change = planWrap(placeOf(client), text, { front, isChosen: all });
  if (change === undefined) throw new Error("nothing to wrap");
  return change;
}

/** As people and clients write them: comments, tabs, CRLF, no arguments, other members. */
const TEXTS: Readonly<Record<ClientId, string>> = {
  "claude-desktop": `{
  "globalShortcut": "",
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/projects"],
      "env": { "TOKEN": "x" }
    },
    "remote": { "url": "https://example.com/mcp" }
  },
  "numStartups": 12345678901234567890
}
`,
  "claude-code": `{"mcpServers":{"files":{"type":"stdio","command":"uvx","args":["a","--","b"],"env":{}}},"projects":{"/home/ada/p":{"allowedTools":[],"mcpServers":{"own one":{"command":"./server"}},"history":[1,2]}}}`,
  cursor: `{\r\n\t"mcpServers": {\r\n\t\t"a__b": {\r\n\t\t\t"command": "node",\r\n\t\t\t"args": []\r\n\t\t}\r\n\t}\r\n}`,
  vscode: `// Servers for all folders.
{
  "inputs": [{ "id": "key", "type": "promptString", "password": true }],
  "servers": {
    /* my files */
    "files": {
      "type": "stdio",
      "command": "npx", // any
      "args": ["-y", "server", "\${workspaceFolder}"],
      "env": { "KEY": "\${input:key}" },
    },
    "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/" },
  },
}
`,
  gemini: `{ "theme": "Dracula", "mcpServers": { "s": { "command": "python", "args": ["-m", "s"], "trust": false, "timeout": 5 }, "h": { "httpUrl": "http://localhost:1/mcp" } } }\n`,
  codex: `# Codex
model = "gpt-5" # keep

[mcp_servers.files]   # mine
command = "npx"
args = ["-y", "server", # the package
  "/home/ada"]
tool_timeout_sec = 120
startup_timeout_sec = 20.5

[mcp_servers.files.env]
TOKEN = "x"

[mcp_servers.remote]
url = "https://example.com/mcp"

[projects."/home/ada/p"]
trust_level = "trusted"
`,
  windsurf: `{"mcpServers":{"s":{"command":"npx","args":["-y","s"]},"r":{"serverUrl":"https://example.com/sse"}}}`,
  zed: `{
  // Zed
  "theme": "One Dark",
  "context_servers": {
    "new": { "source": "custom", "enabled": true, "command": "uv", "args": ["run", "x"], "env": null },
    "old": { "command": { "path": "node", "args": ["/x.js"], "env": {} }, "settings": {} },
  }
}
`,
};

describe.each(CLIENT_IDS)("%s", (client) => {
  const text = TEXTS[client];
  const change = wrapped(client, text);

  it("has the gate in front of what it starts, and nothing else is another", async () => {
    // Git would make line feeds of what is not visible here.
    const visible = change.after.replaceAll("\r", "␍");
    await expect(visible).toMatchFileSnapshot(`../../test/golden/wrapped-${client}.txt`);
    const before = serversIn(placeOf(client), text);
    const after = serversIn(placeOf(client), change.after);
    expect(after.map(({ name, command }) => ({ name, command }))).toEqual(
      before.map(({ name, command }) => ({ name, command })),
    );
    for (const [index, { state }] of before.entries())
      expect(after[index]?.state).toBe(state === "open" ? "gated" : state);
  });

  it("is not wrapped twice", () => {
    expect(planWrap(placeOf(client), change.after, { front, isChosen: all })).toBeUndefined();
  });

  it("is as before, byte for byte, where the text from before is at hand", () => {
    const earlier = ["{}", "no settings", text];
    const back = planUnwrap(placeOf(client), change.after, { earlier, isChosen: all });
    expect(back).toMatchObject({ after: text, isAsBefore: true });
  });

  it("gives servers their own commands back where it was changed meanwhile", () => {
    const comment = client === "codex" ? "# new\n" : "";
    const changed = `${comment}${change.after}${comment === "" ? "\n" : ""}`;
    const parts = { earlier: [text], isChosen: all };
    const back = planUnwrap(placeOf(client), changed, parts);
    expect(back?.isAsBefore).toBe(false);
    expect(serversIn(placeOf(client), back?.after ?? "")).toEqual(serversIn(placeOf(client), text));
    expect(planUnwrap(placeOf(client), back?.after ?? "", parts)).toBeUndefined();
  });
});

it("calls a server as a policy can", () => {
  const text = JSON.stringify({
    mcpServers: Object.fromEntries(
      ["my server", "my-server", "_x__y_", "файлы", "a".repeat(80)].map((name) => [
        name,
        { command: "x" },
      ]),
    ),
  });
  const named = serversIn(placeOf("cursor"), wrapped("cursor", text).after).map(({ name }) => name);
  expect(named).toHaveLength(5);
  const words = [...wrapped("cursor", text).after.matchAll(/"--server",\s*"([^"]*)"/gu)].map(
    ([, word]) => word,
  );
  expect(words).toEqual(["my-server", "my-server-2", "x_y", "server", "a".repeat(56)]);
});

it("leaves alone what is not chosen, what it cannot read, and ACP itself", () => {
  const text = JSON.stringify({
    mcpServers: {
      one: { command: "x" },
      two: { command: "y" },
      odd: { command: "z", args: "not a list" },
      none: {},
      text: "x",
      acp: { command: "acp", args: ["mcp"] },
      windows: { command: "C:\\node.exe", args: ["C:\\acp\\bin\\acp.cjs", "mcp", "--", "s"] },
      bare: { command: "acp", args: ["mcp", "--agent", "a", "npx", "s"] },
    },
  });
  const place = placeOf("cursor");
  expect(serversIn(place, text).map(({ name, state }) => [name, state])).toEqual([
    ["one", "open"],
    ["two", "open"],
    ["odd", "unknown"],
    ["none", "unknown"],
    ["acp", "acp"],
    ["windows", "gated"],
    ["bare", "gated"],
  ]);
  // Whoever takes ACP out leaves the server there.
  expect(withoutAcp(JSON.parse(text)).value).toMatchObject({
    mcpServers: { bare: { command: "npx", args: ["s"] } },
  });
  const change = planWrap(place, text, { front, isChosen: ({ name }) => name === "two" });
  expect(change?.servers.map(({ name }) => name)).toEqual(["two"]);
  expect(serversIn(place, change?.after ?? "")[0]?.state).toBe("open");
});

it("says where settings are broken, and changes nothing there", () => {
  expect(() => serversIn(placeOf("cursor"), '{\n  "a": 1,,\n}')).toThrow(/line 2, column 10/u);
  expect(() => serversIn(placeOf("cursor"), "[]")).toThrow("it is not an object");
  expect(() => serversIn(placeOf("codex"), "a = = 1")).toThrow("Cannot read the settings");
  expect(serversIn(placeOf("cursor"), "")).toEqual([]);
});

it("refuses what it could not change without changing more", () => {
  // Clients take the last of two; an edit would change the first.
  const twice = '{"mcpServers":{"s":{"command":"x"},"s":{"command":"y"}}}';
  expect(() => wrapped("cursor", twice)).toThrow("by hand");
});

it("is undone to the byte, whatever the settings hold", () => {
  const word = fc.oneof(fc.string(), fc.constantFrom("--", "mcp", "acp", "-y", "--server", ""));
  const server = fc.record(
    {
      command: fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom("npx", "acp", "node")),
      args: fc.array(word),
      env: fc.dictionary(fc.string(), fc.string()),
      extra: fc.jsonValue(),
    },
    { requiredKeys: ["command"] },
  );
  const settings = fc.record({
    first: fc.jsonValue(),
    mcpServers: fc.dictionary(
      fc.string().filter((name) => name !== "__proto__"),
      server,
    ),
    last: fc.jsonValue(),
  });
  const place = placeOf("cursor");
  fc.assert(
    fc.property(settings, fc.constantFrom(undefined, 1, 2, "\t"), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      const change = planWrap(place, text, { front, isChosen: all });
      if (change === undefined) return;
      const names = new Set(change.servers.map(({ name }) => name));
      const isChosen = ({ name }: { readonly name: string }): boolean => names.has(name);
      expect(planUnwrap(place, change.after, { earlier: [text], isChosen })?.after).toBe(text);
      const without = planUnwrap(place, change.after, { earlier: [], isChosen });
      const same = serversIn(place, without?.after ?? "");
      expect(same).toEqual(serversIn(place, text));
    }),
  );
});
