import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { pinOf } from "@acp/proxy-mcp";
import type { ServerPins, UpstreamServer } from "@acp/home";
import type { PresentedText } from "@acp/proxy-mcp";
import { judgePresented } from "./judge-presented.js";
import { serverIdentity } from "./server-identity.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
const at = { id: pinOf("server").pin, server: "files" };
const tool = (name: string, description: string): PresentedText => ({
  kind: "tool",
  name,
  ...pinOf({ name, description }),
});
const judge = (
  servers: readonly ServerPins[],
  presented: readonly PresentedText[],
  nowMs = 0,
): ReturnType<typeof judgePresented> => judgePresented(servers, at, { presented, nowMs });
const after = (presented: readonly PresentedText[]): readonly ServerPins[] =>
  judge([], presented).next ?? [];

describe("judgePresented()", () => {
  it("pins what it sees first, and calls it new for a day", () => {
    const servers = after([tool("a", "one")]);
    expect(judge(servers, [tool("a", "one")], DAY_MS - 1)).toMatchObject({
      states: ["new"],
      next: undefined,
    });
    expect(judge(servers, [tool("a", "one")], DAY_MS).states).toEqual(["same"]);
  });

  it("keeps the pin of what changed, and the latest that came instead", () => {
    const servers = after([tool("a", "one"), tool("b", "one")]);
    const changed = judge(servers, [tool("a", "two"), tool("b", "one")]);
    expect(changed.states).toEqual(["changed", "new"]);
    expect(changed.next?.[0]?.pins[0]).toMatchObject({
      pin: tool("a", "one").pin,
      found: tool("a", "two").pin,
    });
    // It is noted once, however often it is presented.
    expect(judge(changed.next ?? [], [tool("a", "two")]).next).toBeUndefined();
    expect(judge(changed.next ?? [], [tool("a", "one")]).states).toEqual(["new"]);
  });

  it("tells instructions from a tool without a name", () => {
    const text: PresentedText = { kind: "instructions", name: "", ...pinOf("hello") };
    const servers = after([text, { ...text, kind: "tool", ...pinOf("x") }]);
    expect(servers[0]?.pins).toHaveLength(2);
  });

  it("measures nothing more of a list once there is no room for one of its texts", () => {
    const many = Array.from({ length: 3_000 }, (_, n): PresentedText => {
      return { ...tool(`${n}`, ""), kind: "resource" };
    });
    const measured = vi.spyOn(JSON, "stringify");
    try {
      const { unpinned } = judge([], many);
      expect(unpinned).toBe(2_000);
      expect(measured.mock.calls.length).toBeLessThan(1_010);
    } finally {
      measured.mockRestore();
    }
  });

  it("holds back what it has no room to remember", () => {
    const many = Array.from({ length: 5_000 }, (_, index) =>
      tool(`${index}${"x".repeat(200)}`, ""),
    );
    const servers = after(many);
    expect(servers[0]?.pins.length).toBeLessThan(5_000);
    expect(JSON.stringify(servers[0]?.pins).length).toBeLessThan(1_100_000);
    expect(judge(servers, [tool("more".repeat(64), "")]).states).toEqual(["changed"]);
    expect(judge(servers, many.slice(0, 1)).states).toEqual(["new"]);
  });

  it("pins so many resources, says how many more there are, and takes no room of tools", () => {
    const many = Array.from(
      { length: 1_002 },
      (_, index): PresentedText => ({
        kind: "resource",
        name: `file:///${index}`,
        ...pinOf(index),
      }),
    );
    const judged = judge([], many);
    expect(judged.unpinned).toBe(2);
    expect(new Set(judged.states)).toEqual(new Set(["new"]));
    const servers = judged.next ?? [];
    expect(servers[0]?.pins).toHaveLength(1_000);
    const other = { ...many[0], ...pinOf("other") } as PresentedText;
    expect(judge(servers, [other, tool("a", "one")]).states).toEqual(["changed", "new"]);
    const long = Array.from(
      { length: 900 },
      (_, index): PresentedText => ({
        kind: "resource",
        name: `${index}${"x".repeat(240)}`,
        ...pinOf(index),
      }),
    );
    expect(judge([], long).unpinned).toBeGreaterThan(0);
  });

  it("tells a prompt from a tool of its name", () => {
    const servers = after([tool("a", "one"), { ...tool("a", "two"), kind: "prompt" }]);
    expect(judge(servers, [tool("a", "two")]).states).toEqual(["changed"]);
    expect(servers[0]?.pins).toHaveLength(2);
  });

  it("holds back what changed too often, without a note of it", () => {
    const servers = after([tool("a", "one")]);
    const presented = [tool("a", "two"), tool("b", "one")];
    const judged = judgePresented(servers, at, { presented, nowMs: 0, isNoted: false });
    expect(judged).toMatchObject({ states: ["changed", "new"], changed: [] });
    expect(judged.next?.[0]?.pins[0]).not.toHaveProperty("found");
    const alone = { presented: presented.slice(0, 1), nowMs: 0, isNoted: false };
    expect(judgePresented(servers, at, alone)).toMatchObject({
      states: ["changed"],
      next: undefined,
    });
  });

  it("never calls what changed the same or new, whatever came before", () => {
    const text = fc
      .tuple(fc.constantFrom("a", "b"), fc.constantFrom("one", "two", "three"))
      .map(([name, description]) => tool(name, description));
    fc.assert(
      fc.property(fc.array(fc.array(text, { maxLength: 3 })), (lists) => {
        const first = new Map<string, string>();
        let servers: readonly ServerPins[] = [];
        for (const presented of lists) {
          for (const { name, pin } of presented) if (!first.has(name)) first.set(name, pin);
          const { states, next } = judge(servers, presented, DAY_MS);
          presented.forEach(({ name, pin }, index) =>
            expect(states[index] === "changed").toBe(first.get(name) !== pin),
          );
          servers = next ?? servers;
        }
      }),
    );
  });
});

const {
  identities,
}: {
  readonly identities: readonly { name: string; server: UpstreamServer; want: string }[];
} = JSON.parse(
  readFileSync(new URL("../../../../spec/vectors/tool-pins.json", import.meta.url), "utf8"),
);

describe("serverIdentity()", () => {
  it.each(identities)("of $name is that of the vectors", ({ server, want }) => {
    expect(serverIdentity(server)).toBe(want);
  });

  it("is another one for another command, name or address, and the same for other variables", () => {
    const ids = [
      { name: "a", command: ["x", "y z"] },
      { name: "a", command: ["x", "y", "z"] },
      { name: "b", command: ["x", "y z"] },
      { name: "a", url: "https://host.example/mcp" },
      { name: "a", url: "https://host.example/other" },
      { name: "a", url: "https://host.example:8443/mcp" },
    ].map(serverIdentity);
    expect(new Set(ids).size).toBe(ids.length);
    expect(serverIdentity({ name: "a", command: ["x", "y z"], env: { A: "1" } })).toBe(ids[0]);
    expect(serverIdentity({ name: "b", url: "https://host.example/mcp?key=1#x" })).toBe(ids[3]);
  });
});
