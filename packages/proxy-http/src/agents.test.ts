import { describe, expect, it } from "vitest";
import { type AgentsOptions, createAgents, type FindCaller, valuesOf } from "./agents.js";

const TOKEN = "0123456789abcdef";
const alice = { agent: { id: "alice" }, username: "alice", token: TOKEN };
const bob = { agent: { id: "bob", parents: ["boss"] }, username: "bob", token: `${TOKEN}-of-bob` };
const basic = (username: string, token: string): string =>
  `Basic ${Buffer.from(`${username}:${token}`).toString("base64")}`;
const credentials = (...values: readonly string[]): readonly string[] =>
  values.flatMap((value) => ["Proxy-Authorization", value]);

function refusalOf(
  find: FindCaller,
  ...given: Parameters<FindCaller>
): { readonly code: string; readonly status: number } | string {
  try {
    return `found ${find(...given).agent.id}`;
  } catch (error) {
    const { refusal } = error as { refusal: { code: string; status: number } };
    return { code: refusal.code, status: refusal.status };
  }
}

const unknown = { code: "agent_unknown", status: 407 };

describe("createAgents()", () => {
  const find = createAgents({ agents: [alice, bob] });

  it("finds each agent by its credentials", () => {
    expect(find(credentials(basic("alice", TOKEN)))).toEqual({ agent: alice.agent });
    expect(
      find(["Host", "x", "proxy-AUTHORIZATION", basic("bob", bob.token).replace("Basic", "bAsIc")]),
    ).toEqual({ agent: bob.agent });
  });

  it("hands on the gate of an agent that has one of its own, and no token", () => {
    const gate = Object.assign(() => undefined, { its: "own" }) as never;
    expect(
      createAgents({ agents: [{ ...alice, gate }] })(credentials(basic("alice", TOKEN))),
    ).toEqual({ agent: alice.agent, gate });
  });

  it.each([
    ["none", []],
    ["another token", credentials(basic("alice", `${TOKEN}0`))],
    ["a token that is cut short", credentials(basic("alice", TOKEN.slice(0, -1)))],
    ["another agent's token", credentials(basic("alice", bob.token))],
    ["an empty token", credentials(basic("alice", ""))],
    ["an unknown name", credentials(basic("carol", TOKEN))],
    ["no name", credentials(basic("", TOKEN))],
    ["a name in another case", credentials(basic("Alice", TOKEN))],
    ["the same ones twice", credentials(basic("alice", TOKEN), basic("alice", TOKEN))],
    [
      "two agents' in one header",
      credentials(`${basic("alice", TOKEN)}, ${basic("bob", bob.token)}`),
    ],
    [
      "the right ones after wrong ones",
      credentials(basic("alice", "wrong"), basic("alice", TOKEN)),
    ],
    ["another scheme", credentials(basic("alice", TOKEN).replace("Basic", "Bearer"))],
    ["a misspelt scheme", credentials(basic("alice", TOKEN).replace("Basic", "Basics"))],
    ["no scheme", credentials(basic("alice", TOKEN).slice("Basic ".length))],
    ["a tab after the scheme", credentials(basic("alice", TOKEN).replace(" ", "\t"))],
    ["base64 without its padding", credentials(basic("alice", TOKEN).replace(/=+$/, ""))],
    ["base64 with spare bits", credentials(basic("alice", TOKEN).replace(/.(=+)$/, "h$1"))],
    ["base64url", credentials("Basic YTpf_-__")],
    ["no base64", credentials("Basic {{secret:TOKEN}}")],
    ["text before it", credentials(` x ${basic("alice", TOKEN)}`)],
    ["another header", ["Authorization", basic("alice", TOKEN)]],
  ])("refuses %s, and nobody stands in", (_name, headers) => {
    expect(refusalOf(find, headers)).toEqual(unknown);
    const withFallback = createAgents({ agents: [alice, bob], agent: { id: "anybody" } });
    const isSilent = valuesOf(headers, "proxy-authorization").length === 0;
    expect(refusalOf(withFallback, headers)).toEqual(isSilent ? "found anybody" : unknown);
  });

  it("never says what was given", () => {
    expect(() => find(credentials("Basic c2VjcmV0OnNlY3JldA=="))).toThrow(
      "no agent has these proxy credentials",
    );
  });

  it("takes a socket's agent for what it is known to be", () => {
    const known = { agent: { id: "carol" }, session: "s1" };
    expect(find(credentials(basic("alice", TOKEN)), known)).toBe(known);
    expect(find([], known)).toBe(known);
  });

  it.each<[string, AgentsOptions]>([
    ["a username that stands twice", { agents: [alice, { ...bob, username: "alice" }] }],
    ["a username with a colon", { agents: [{ ...alice, username: "a:b" }] }],
    ["an empty username", { agents: [{ ...alice, username: "" }] }],
    ["a short token", { agents: [{ ...alice, token: TOKEN.slice(1) }] }],
    ["a token with a line break", { agents: [{ ...alice, token: `${TOKEN}\n` }] }],
    ["no token", { agents: [{ ...alice, token: undefined as never }] }],
    ["an agent without an id", { agents: [{ ...alice, agent: { id: "" } }] }],
    ["an agent that has credentials and needs none", { agents: [alice], agent: { id: "alice" } }],
    [
      "an id that could be a part's",
      { agents: [{ ...alice, agent: { id: "alice/x" } }], attribution: "x-agent-id" },
    ],
    ["a fallback's id that could be a part's", { agent: { id: "a/b" }, attribution: "x-agent-id" }],
  ])("refuses %s", (_name, options) => {
    expect(() => createAgents(options)).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
    expect(() => createAgents(options)).not.toThrow(TOKEN);
  });
});

describe("createAgents() with attribution", () => {
  const find = createAgents({
    agents: [alice, bob],
    agent: { id: "anybody" },
    attribution: "x-agent-id",
  });
  const part = (...values: readonly string[]): readonly string[] =>
    values.flatMap((value) => ["X-Agent-ID", value]);

  it("names a part of the agent that it comes from, never another agent", () => {
    expect(find(part("researcher")).agent).toEqual({
      id: "anybody/researcher",
      parents: ["anybody"],
    });
    expect(find(part("alice")).agent).toEqual({ id: "anybody/alice", parents: ["anybody"] });
    expect(find([...credentials(basic("bob", bob.token)), ...part("alice")]).agent).toEqual({
      id: "bob/alice",
      parents: ["bob", "boss"],
    });
    expect(find(part("x"), { agent: { id: "carol" }, session: "s1" })).toEqual({
      agent: { id: "carol/x", parents: ["carol"] },
      session: "s1",
    });
  });

  it("keeps the agent's gate", () => {
    const gate = Object.assign(() => undefined, { its: "own" }) as never;
    expect(find(part("x"), { agent: { id: "carol" }, gate }).gate).toBe(gate);
  });

  it("is the agent itself where none is named", () => {
    expect(find([]).agent).toEqual({ id: "anybody" });
  });

  it.each([
    ["", " "],
    ["a/b"],
    ["../alice"],
    ["a b"],
    ["ünï"],
    ["a".repeat(65)],
    ["a", "b"],
    ["a", "a"],
    ["a,b"],
  ])("refuses %j", (...values) => {
    expect(refusalOf(find, part(...values))).toEqual({ code: "request_invalid", status: 400 });
  });

  it("refuses a socket's agent whose id is that of a part", () => {
    expect(refusalOf(find, [], { agent: { id: "anybody/researcher" } })).toEqual(unknown);
  });

  it("is not looked at where it is not configured", () => {
    expect(createAgents({ agent: { id: "anybody" } })(part("a/b", "c")).agent).toEqual({
      id: "anybody",
    });
  });
});
