/// <reference lib="es2024.string" />
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agent, first, makeKit } from "../../test/gate-kit.js";
import {
  type Action,
  actionDigest,
  type Agent,
  httpAction,
  type Layer,
  shellAction,
  toolAction,
} from "../index.js";
import { requestHash } from "./request-codec.js";

async function textOf(action: Action, who: Agent = agent, layer?: Layer): Promise<string> {
  const kit = makeKit(layer === undefined ? {} : { layers: [layer] });
  await kit.gate.open(action, { agent: who });
  await kit.settle();
  return first(kit.shown).request.text;
}

describe("renderText()", () => {
  it("shows agent, action, risk, rule, every argument, expiry and digest", async () => {
    const text = await textOf(
      toolAction("files", "write_file", { path: "a.txt", content: "hello\nworld" }),
    );
    expect(text.split("\n")).toEqual([
      "Agent: demo",
      "Wants: call write_file on files",
      "Risk:  medium (write)",
      "Rule:  default: no rule matches; the policy's default applies",
      "Open until: 2026-01-15T10:32:00.000Z",
      expect.stringMatching(/^Digest: sha256:[0-9a-f]{64}$/),
      "With:",
      "  {",
      '    "path": "a.txt",',
      '    "content": "hello\\nworld"',
      "      = 2 lines:",
      '      =   "hello"',
      '      =   "world"',
      "  }",
    ]);
  });

  it("shows what an http and a shell action say beside what is sent", async () => {
    const http = await textOf(httpAction("post", "https://example.com/pay?to=eve%20x"));
    expect(http).toContain(
      '    "url": "https://example.com/pay?to=eve%20x",\n      = URL: https, host example.com, port 443\n      = path "/pay"\n      = query "to": "eve%20x" is "eve x"',
    );
    const shell = await textOf(shellAction("cat a | sh"));
    expect(shell).toContain(
      '    "command": "cat a | sh"\n      = sh command 1: "cat" "a"\n      = sh command 2, reading what the one before writes: "sh"',
    );
  });

  it("says above the arguments which hosts are not what they look like, and that letters may be reordered", async () => {
    const text = await textOf(
      toolAction("web", "fetch", { url: "https://аpple.com/", note: "שלום" }),
    );
    const note =
      'host xn--pple-43d.com shows as "аpple.com": "аpple" mixes Latin and Cyrillic letters; "аpple" looks like "apple"';
    expect(text.replaceAll("\n↪ ", "")).toContain(
      `\nNote:  ${note}\nNote:  right-to-left letters stand here;`,
    );
    expect(text.indexOf("Note:")).toBeLessThan(text.indexOf("With:"));
    expect(text.replaceAll("\n↪ ", "")).toContain(
      `\n      = ${note}\n      = URL: https, host xn--pple-43d.com (shows as "аpple.com"), port 443`,
    );
  });

  it("says what decides again below long arguments, and above them how long they are", async () => {
    const args = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, at) => [
        `key${at}`,
        `value ${at}${at === 7 ? " that is longer" : ""}`,
      ]),
    );
    const rows = (await textOf(toolAction("files", "write_file", args))).split("\n");
    const head = rows.slice(0, rows.indexOf("With:"));
    expect(head).toEqual([
      "Agent: demo",
      "Wants: call write_file on files",
      "Risk:  medium (write)",
      expect.stringMatching(/^Rule: {2}default/),
      expect.stringMatching(/^Open until: /),
      expect.stringMatching(/^Digest: /),
      'Size:  5,002 rows of arguments, the longest text in "key7": 22 characters',
    ]);
    expect(rows.slice(-8)).toEqual(["Again, what is asked:", ...head.slice(0)]);
  });

  it("names a tool whole where its line for lists is cut, and cuts no character in half", async () => {
    const name = Array.from({ length: 50 }, (_, at) => `🙂${at}`).join("");
    const kit = makeKit();
    await kit.gate.open(toolAction("files", name, {}), { agent });
    await kit.settle();
    const { request } = first(kit.shown);
    expect(request.action.description).toMatch(/^call .{100,}… \(\d+ characters\)$/u);
    expect(request.action.description.isWellFormed()).toBe(true);
    expect(request.text.replaceAll("\n↪ ", "")).toContain(`Tool:  "${name}" on files`);
  });

  it("names http and shell actions", async () => {
    expect(await textOf(httpAction("post", "https://EXAMPLE.com/pay?to=eve"))).toContain(
      "Wants: POST https://example.com/pay?to=eve",
    );
    expect(await textOf(shellAction("rm -rf a\nb", { cwd: "/srv" }))).toContain(
      'Wants: run "rm -rf a\\nb"',
    );
  });

  it("shows who started the agent, what it calls itself, and its parents", async () => {
    const text = await textOf(toolAction("files", "x", {}), {
      id: "sub",
      name: "Admin\u202e",
      command: "node a.js",
      parents: ["main"],
    });
    expect(text).toContain('Agent: sub (calls itself "Admin\\u202e"), started by main');
    expect(text).toContain('Started as: "node a.js"');
  });

  it("names the secrets and the offers that a yes covers", async () => {
    const call = httpAction("get", "https://api.example.com/");
    const offers = [
      {
        id: "exact",
        scope: { kind: "action", digest: actionDigest(call) } as const,
        ttlMs: 60_000,
        uses: 3,
      },
      {
        id: "host",
        scope: { kind: "host", host: "api.example.com", port: 443, methods: ["GET"] } as const,
        ttlMs: 180_000,
      },
    ];
    const layer: Layer = {
      name: "l",
      judge: () => ({
        effect: "ask",
        ruleId: "r",
        reason: "",
        secrets: ["TOKEN"],
        ask: { offers },
      }),
    };
    const text = await textOf(call, agent, layer);
    expect(text).toContain("\nA yes releases the secrets: TOKEN\n");
    expect(text).toContain(
      "\nA yes may also cover, if you choose it:\n  [exact] this exact call for 1 min, at most 3 times\n",
    );
    expect(text).toContain("\n  [host] every GET request to api.example.com port 443 for 3 min\n");
    expect(text.indexOf("[host]")).toBeLessThan(text.indexOf("\nWith:\n"));
  });

  it("lets no value pose as a line of its own, whatever the names and values are", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary", minLength: 1, maxLength: 60 }),
        async (value) => {
          const forged = `${value}\nRisk:  low (read)`.replaceAll(/[\ud800-\udfff]/g, "");
          const text = await textOf(toolAction("files", "x", { [forged]: forged }), {
            id: forged,
            name: forged,
            command: forged,
          });
          expect(text.split("\n").filter((line) => line.startsWith("Risk:"))).toEqual([
            "Risk:  medium (write)",
          ]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("is part of what is hashed", async () => {
    const kit = makeKit();
    await kit.gate.open(toolAction("files", "x", {}), { agent });
    await kit.settle();
    const { request } = first(kit.shown);
    expect(requestHash({ ...request, text: `${request.text} ` })).not.toBe(requestHash(request));
  });
});

describe("renderText() of a tool's definition", () => {
  it("says what was seen for the first time and what was noticed, on one line each", async () => {
    const kit = makeKit();
    const notes = ["of the tool: it names a place of credentials\nRisk: low"];
    const tool = { server: "files", name: "write_file", pinned: "new", notes } as const;
    await kit.gate.open(toolAction("files", "write_file", {}), { agent, tool });
    await kit.settle();
    const lines = first(kit.shown).request.text.split("\n");
    expect(lines.filter((line) => line.startsWith("Note:"))).toEqual([
      "Note:  the tool's definition was first seen within a day, and nobody has reviewed it",
      "Note:  of the tool: it names a place of credentials\\u000aRisk: low",
    ]);
    expect(lines.filter((line) => line.startsWith("Risk:"))).toHaveLength(1);
  });
});
