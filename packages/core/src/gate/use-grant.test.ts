import { seededIds } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { agent, first, type Kit, last, makeKit, reply } from "../../test/gate-kit.js";
import {
  type Allowed,
  callScope,
  httpAction,
  memoryStore,
  offerHost,
  type Policy,
  redeem,
  type Store,
  toolAction,
} from "../index.js";
import { parsePolicy } from "../policy.js";

const write = (path: string) => toolAction("files", "write_file", { path });
const rule = { match: { tool: "write_*" }, action: "ask" };
const load = (...rules: readonly object[]): Policy =>
  parsePolicy({ version: "1", default: "ask", rules });
const leasing = load({
  ...rule,
  offers: [
    { covers: "call", ttl: 60, uses: 2 },
    { covers: "arguments", ttl: 60, args: { path: "/srv/*" } },
    { covers: "tool", ttl: 60 },
  ],
});

interface Leased extends Kit {
  readonly store: Store;
  /** The policy in force. */
  policy: Policy;
  /**
   * Whether a call is allowed by the grant; where it is asked instead, the question is taken back.
   */
  uses(path: string): Promise<boolean>;
}

/** A gate whose person took the offer of this name for a write of `/srv/a`. */
async function leased(offer: string): Promise<Leased> {
  const held = { policy: leasing };
  const { clock } = makeKit();
  const store = memoryStore(clock);
  const kit = makeKit({ clock, store, policy: () => held.policy });
  const verdict = kit.gate(write("/srv/a"), { agent });
  await kit.settle();
  await first(kit.shown).session.submit(
    reply(first(kit.shown), { decision: "approved", grantId: offer }),
  );
  await verdict;
  return Object.assign(held, {
    ...kit,
    store,
    clock,
    async uses(path: string) {
      const opened = await kit.gate.open(write(path), { agent });
      if (opened.decision === "pending") await opened.withdraw("enough");
      return opened.decision === "allow" && opened.code === "grant_used";
    },
  });
}

const asAllowed = async (kit: Leased, path: string): Promise<Allowed> => {
  const verdict = await kit.gate(write(path), { agent });
  if (verdict.decision !== "allow") throw new Error(verdict.code);
  return verdict;
};
const nothing = () => Promise.reject(new Error("must not run"));

describe("a grant", () => {
  it("answers what its scope covers, and nothing beside", async () => {
    const call = await leased("call");
    expect([
      await call.uses("/srv/b"),
      await call.uses("/srv/a"),
      await call.uses("/srv/a"),
      await call.uses("/srv/a"),
    ]).toEqual([false, true, true, false]);
    const patterns = await leased("arguments");
    expect([await patterns.uses("/srv/b"), await patterns.uses("/etc/b")]).toEqual([true, false]);
    const tool = await leased("tool");
    expect([await tool.uses("/etc/b"), await tool.uses("/srv/a")]).toEqual([true, true]);
  });

  it("is offered narrowest first, and every use of it is in the log before its permit exists", async () => {
    const kit = await leased("arguments");
    expect(first(kit.shown).request.offers.map(({ id }) => id)).toEqual([
      "call",
      "arguments",
      "tool",
    ]);
    expect(first(kit.shown).request.text).toContain(
      '[arguments] every call of write_file on files where path is like "/srv/*" for 1 min',
    );
    await kit.uses("/srv/b");
    const { eventType, metadata } = last(kit.sink.events);
    expect([eventType, metadata]).toMatchObject([
      "grant_used",
      { from_request: first(kit.shown).request.id, scope: { kind: "arguments" } },
    ]);
    kit.sink.mode = "throws";
    expect(await kit.gate(write("/srv/b"), { agent })).toMatchObject({ code: "audit_failed" });
  });

  it.each<[string, Policy]>([
    ["denies the call", load({ ...rule, action: "deny" })],
    [
      "asks with a guard in front",
      load({ match: { tool: "*", args: { path: "/srv/*" } }, action: "deny" }, rule),
    ],
    [
      "asks for several people",
      load({ ...rule, quorum: 2, offers: [{ covers: "tool", ttl: 60 }] }),
    ],
    [
      "asks at level critical",
      load({ ...rule, level: "critical", offers: [{ covers: "tool", ttl: 60 }] }),
    ],
    [
      "asks for a tool that is classified as critical",
      parsePolicy({
        version: "1",
        rules: [{ ...rule, level: "low", offers: [{ covers: "tool", ttl: 60 }] }],
        classify: [{ tool: "write_file", category: "physical", risk: "critical" }],
      }),
    ],
    ["asks and offers nothing", load(rule)],
    ["asks and offers an empty list", load({ ...rule, offers: [] })],
    ["asks and offers only the call", load({ ...rule, offers: [{ covers: "call", ttl: 60 }] })],
    [
      "asks and offers other patterns",
      load({ ...rule, offers: [{ covers: "arguments", ttl: 60, args: { path: "/srv/a*" } }] }),
    ],
    [
      "asks and offers it for a shorter time",
      load({ ...rule, offers: [{ covers: "arguments", ttl: 5, args: { path: "/srv/*" } }] }),
    ],
    [
      "asks, with another rule in front that offers nothing",
      load({ ...rule, match: { tool: "*", args: { path: "/srv/*" } } }, rule),
    ],
  ])("does not outlive a policy that now %s", async (_, policy) => {
    const kit = await leased("arguments");
    await kit.clock.advance(10_000);
    expect(await kit.uses("/srv/a")).toBe(true);
    kit.policy = policy;
    expect(await kit.uses("/srv/a")).toBe(false);
    kit.policy = leasing;
    expect(await kit.uses("/srv/a")).toBe(true);
  });

  it("is not taken with an edit: the person wants another call than the one that is offered", async () => {
    const kit = makeKit({ policy: leasing });
    void kit.gate(write("/srv/a"), { agent });
    await kit.settle();
    const question = first(kit.shown);
    const edit = {
      decision: "approved_with_modifications",
      modifications: { path: "/srv/b" },
      grantId: "call",
    } as const;
    expect(await question.session.submit(reply(question, edit))).toMatchObject({
      code: "grant_not_offered",
    });
  });

  it("holds for the one agent that it was given for, whatever the store says", async () => {
    const kit = await leased("tool");
    const [grant] = await kit.store.grants.list();
    if (grant === undefined) throw new Error("no grant");
    const lying = {
      ...kit.store,
      grants: { ...kit.store.grants, find: () => Promise.resolve([grant]) },
    };
    const other = makeKit({ store: lying, clock: kit.clock, ids: seededIds(1), policy: leasing });
    expect((await other.gate.open(write("/srv/a"), { agent: { id: "other" } })).decision).toBe(
      "pending",
    );
    expect((await other.gate.open(toolAction("files", "write_all", {}), { agent })).decision).toBe(
      "pending",
    );
    expect((await other.gate.open(write("/srv/a"), { agent })).decision).toBe("allow");
  });

  it("covers no argument pattern where no policy can tell", async () => {
    const kit = await leased("arguments");
    const [grant] = await kit.store.grants.list();
    if (grant === undefined) throw new Error("no grant");
    const offers = [{ id: "a", scope: grant.scope, ttlMs: 60_000 }];
    const layer = {
      name: "l",
      judge: () => ({ effect: "ask", ruleId: "l", reason: "", ask: { offers } }) as const,
    };
    const parts = { clock: kit.clock, store: kit.store, ids: seededIds(1), layers: [layer] };
    const { gate, shown, settle } = makeKit({ ...parts, policy: () => undefined as never });
    void gate(write("/srv/a"), { agent });
    await settle();
    expect(first(shown).request.offers).toEqual([]);
  });
});

describe("the permit of a grant", () => {
  it("opens nothing once the grant is revoked, here or by another process", async () => {
    const here = await leased("tool");
    const one = await asAllowed(here, "/srv/a");
    const two = await asAllowed(here, "/srv/a");
    const [grant] = await here.store.grants.list();
    expect(await here.gate.revoke(grant?.id ?? "", "ada")).toBe(true);
    expect(await here.gate.perform(one, nothing)).toMatchObject({
      ran: false,
      verdict: { code: "permit_refused" },
    });
    expect(() => redeem(two.permit, two.action)).toThrow(
      expect.objectContaining({ code: "permit_denied" }),
    );
    const there = await leased("tool");
    const three = await asAllowed(there, "/srv/a");
    const [other] = await there.store.grants.list();
    await there.store.grants.revoke(other?.id ?? "");
    expect(await there.gate.perform(three, nothing)).toMatchObject({
      ran: false,
      verdict: { code: "permit_refused" },
    });
  });

  it("opens nothing once the grant is out of time", async () => {
    const kit = await leased("tool");
    await kit.clock.advance(50_000);
    const one = await asAllowed(kit, "/srv/a");
    const two = await asAllowed(kit, "/srv/a");
    await kit.clock.advance(10_000);
    expect(await kit.gate.perform(one, nothing)).toMatchObject({
      ran: false,
      verdict: { code: "permit_refused" },
    });
    expect(() => redeem(two.permit, two.action)).toThrow(
      expect.objectContaining({ code: "permit_expired" }),
    );
  });

  it("opens what it allowed where that was the grant's last use", async () => {
    const kit = await leased("call");
    const one = await asAllowed(kit, "/srv/a");
    const two = await asAllowed(kit, "/srv/a");
    for (const verdict of [two, one])
      expect(await kit.gate.perform(verdict, () => Promise.resolve(1))).toMatchObject({
        ran: true,
      });
  });

  it("opens nothing where the store cannot say whether the grant holds", async () => {
    const kit = await leased("tool");
    const one = await asAllowed(kit, "/srv/a");
    kit.store.grants.get = () => Promise.reject(new Error("down"));
    expect(await kit.gate.perform(one, nothing)).toMatchObject({
      ran: false,
      verdict: { code: "permit_refused" },
    });
  });
});

describe("revoke()", () => {
  it("ends a grant, and says in the log whose it was and who ended it", async () => {
    const kit = await leased("tool");
    const [grant] = await kit.store.grants.list();
    expect(await kit.gate.revoke(grant?.id ?? "", "ada")).toBe(true);
    expect(last(kit.sink.events)).toMatchObject({
      eventType: "grant_revoked",
      agent: "demo",
      requestId: grant?.requestId,
      metadata: { grant: grant?.id, by: "ada", scope: { kind: "tool" } },
    });
    expect(await kit.uses("/srv/a")).toBe(false);
    expect(await kit.gate.revoke(grant?.id ?? "", "ada")).toBe(false);
  });

  it("ends nothing for what is no id", async () => {
    const kit = await leased("tool");
    for (const id of [null, undefined, 7, "x".repeat(10_000)])
      expect(await kit.gate.revoke(id as never, "ada")).toBe(false);
    expect(await kit.uses("/srv/a")).toBe(true);
  });

  it("holds also where the log fails", async () => {
    const kit = await leased("tool");
    const [grant] = await kit.store.grants.list();
    kit.sink.mode = "throws";
    await expect(kit.gate.revoke(grant?.id ?? "", "ada")).rejects.toThrow("disk full");
    kit.sink.mode = "works";
    expect(await kit.uses("/srv/a")).toBe(false);
  });
});

describe("defaultOffers", () => {
  const get = (host: string) => httpAction("GET", `https://${host}/x`);

  it("offers a host where nothing else is said, and its yes to a GET covers GET and HEAD for a time", async () => {
    const { gate, shown, settle, clock } = makeKit({ defaultOffers: offerHost(180_000) });
    const verdict = gate(get("example.com"), { agent });
    await settle();
    expect(first(shown).request.text).toContain(
      "[host] every GET and HEAD request to example.com port 443 for 3 min",
    );
    await first(shown).session.submit(
      reply(first(shown), { decision: "approved", grantId: "host" }),
    );
    await verdict;
    expect(await gate(httpAction("HEAD", "https://example.com/?k=v"), { agent })).toMatchObject({
      code: "grant_used",
    });
    for (const other of [
      get("www.example.com"),
      httpAction("POST", "https://example.com/x"),
      httpAction("CONNECT", "example.com:443"),
    ])
      expect((await gate.open(other, { agent })).decision).toBe("pending");
    await clock.advance(180_000);
    expect((await gate.open(get("example.com"), { agent })).decision).toBe("pending");
  });

  it("covers a tunnel, and no request, where it was given on one", async () => {
    const { gate, shown, settle } = makeKit({ defaultOffers: offerHost(180_000) });
    const verdict = gate(httpAction("CONNECT", "example.com:443"), { agent });
    await settle();
    await first(shown).session.submit(
      reply(first(shown), { decision: "approved", grantId: "host" }),
    );
    await verdict;
    expect(await gate(httpAction("CONNECT", "example.com:443"), { agent })).toMatchObject({
      code: "grant_used",
    });
    for (const other of [
      get("example.com"),
      httpAction("CONNECT", "www.example.com:443"),
      httpAction("CONNECT", "example.com:8443"),
    ])
      expect((await gate.open(other, { agent })).decision).toBe("pending");
  });

  it("covers every method and the www. twin for a time where the operator wants it so", async () => {
    const { gate, shown, settle, clock } = makeKit({ defaultOffers: offerHost(180_000, "site") });
    const verdict = gate(get("example.com"), { agent });
    await settle();
    expect(first(shown).request.text).toContain(
      "[site] every request, of any method, and every tunnel to example.com or www.example.com port 443 for 3 min",
    );
    await first(shown).session.submit(
      reply(first(shown), { decision: "approved", grantId: "site" }),
    );
    await verdict;
    expect(await gate(get("www.example.com"), { agent })).toMatchObject({ code: "grant_used" });
    expect(await gate(httpAction("CONNECT", "example.com:443"), { agent })).toMatchObject({
      code: "grant_used",
    });
    for (const host of ["api.example.com", "example.com:8443"])
      expect((await gate.open(get(host), { agent })).decision).toBe("pending");
    await clock.advance(180_000);
    expect((await gate.open(get("example.com"), { agent })).decision).toBe("pending");
  });

  it("adds nothing to a rule that says what it offers", async () => {
    const policy = load({ match: { kind: "http" }, action: "ask", offers: [] });
    const { gate, shown, settle } = makeKit({ policy, defaultOffers: offerHost(180_000) });
    void gate(get("example.com"), { agent });
    await settle();
    expect(first(shown).request.offers).toEqual([]);
  });

  it.each([Number.NaN, 86_400_001, 0.5])("that lasts %s ms is a broken part", async (ttlMs) => {
    const { gate } = makeKit({
      defaultOffers: (action) => [{ id: "x", scope: callScope(action), ttlMs }],
    });
    expect(await gate(write("a"), { agent })).toMatchObject({ code: "layer_failed" });
  });

  it("that throws is a broken part, and its ask a deny", async () => {
    const { gate } = makeKit({
      defaultOffers: () => {
        throw new Error("broken");
      },
    });
    expect(await gate(write("a"), { agent })).toMatchObject({ code: "layer_failed" });
  });
});
