import { describe, expect, it } from "vitest";
import { httpAction, shellAction, toolAction } from "@acp/core";
import type { Action } from "@acp/core";
import { createConsentSigner, generateKeyPair } from "@acp/core/proof";
import {
  ASK_ALL,
  allowed,
  calls,
  eventsOf,
  HOUR_MS,
  logOf,
  matchesOf,
  origins,
  reasonsOf,
  suggest,
  writes,
} from "../test/kit.js";
import type { Past, Step } from "../test/kit.js";
import type { LoggedEvent } from "./logged-call.js";
import { suggestRules } from "./suggest-rules.js";

const FIVE = ["~/p/app/a.md", "~/p/app/b.md", "~/p/app/c.md", "~/p/app/d.md", "~/p/app/e.md"];
const five = (
  action: (index: number) => Action,
  answer: Step["answer"] = "approve",
): readonly Step[] => FIVE.map((_, index) => ({ action: action(index), answer }));
describe("suggestRules() for what was approved", () => {
  it("suggests the narrowest rule, where it goes, what it opens and what it would have answered", async () => {
    const { suggestions, heldBack, answered } = await suggest([
      ...writes("approve", FIVE),
      ...writes("ignore", ["~/p/app/f.md"]),
    ]);
    expect(heldBack).toEqual([]);
    expect(answered).toBe(5);
    expect(suggestions).toEqual([
      {
        effect: "allow",
        about: "write_file on files",
        shape: { kind: "tool", server: "files", tool: "write_file" },
        rule: {
          id: "allow-files-write_file",
          match: {
            server: "files",
            tool: "write_file",
            args: { path: { path: "~/p/app/*.md" }, content: "text *" },
          },
          action: "allow",
        },
        yaml: expect.stringContaining('        path: { path: "~/p/app/*.md" }\n'),
        place: {},
        covers: [
          {
            argument: "path",
            what: "every path directly in ~/p/app whose name ends in .md",
            seen: 5,
          },
          { argument: "content", what: 'every text that begins with "text "', seen: 5 },
          { argument: "…", what: "every other argument, whatever its value" },
        ],
        answered: { approved: 5, edited: 0, denied: 0, unanswered: 1, granted: 0, unasked: 0 },
        agents: ["coder"],
        firstMs: expect.any(Number),
        lastMs: expect.any(Number),
      },
    ]);
  });

  it("wants five approvals, or as many as it is told, of more than one sitting", async () => {
    expect(await reasonsOf(writes("approve", FIVE.slice(1)))).toEqual([]);
    expect((await suggest(writes("approve", FIVE.slice(1)), { min: 4 })).suggestions).toHaveLength(
      1,
    );
    expect((await suggest(writes("approve", FIVE.slice(3)), { min: 2 })).suggestions).toHaveLength(
      1,
    );
    const batch = writes("approve", FIVE).map((step) => ({ ...step, afterMs: 0 }));
    expect(
      await reasonsOf((await logOf(batch)).map((event) => ({ ...event, atMs: 1_000 }))),
    ).toEqual([]);
    await expect(suggest([], { min: 1 })).rejects.toMatchObject({ code: "options_invalid" });
  });

  it("counts approvals from a time on, and what speaks against a rule always", async () => {
    const events = await logOf([...writes("approve", FIVE), ...writes("approve", FIVE)]);
    const half = events.filter(({ eventType }) => eventType === "consent_approved")[4]?.atMs ?? 0;
    expect((await suggest(events, { sinceMs: half })).suggestions).toHaveLength(1);
    expect((await suggest(events, { sinceMs: half, min: 7 })).suggestions).toHaveLength(0);
    const objected = await logOf([...writes("deny", ["~/p/app/x.md"]), ...writes("approve", FIVE)]);
    expect(await reasonsOf(objected, { sinceMs: (objected[4]?.atMs ?? 0) + HOUR_MS / 2 })).toEqual([
      "allow write_file on files 5: you denied or edited a call that it would cover",
    ]);
  });

  it("never covers what a person denied, whenever; parts that nobody denied it does", async () => {
    expect(
      await reasonsOf([...writes("deny", ["~/p/app/x.md"]), ...writes("approve", FIVE)]),
    ).toHaveLength(1);
    expect(
      await reasonsOf([...writes("approve", FIVE), ...writes("deny", ["~/p/app/x.md"])]),
    ).toHaveLength(1);
    const docs = FIVE.map((path) => path.replace("app/", "app/docs/"));
    const src = FIVE.map((path) => path.replace("app/", "app/src/"));
    const mixed = [
      ...writes("approve", [...docs, ...src]),
      ...writes("deny", ["~/p/app/secret.md"]),
    ];
    expect(matchesOf(await suggest(mixed)).map((match) => Object(match).args.path)).toEqual([
      { path: "~/p/app/docs/*.md" },
      { path: "~/p/app/src/*.md" },
    ]);
  });

  it("takes an edited call for one that was not wanted as it was", async () => {
    const edit: Step = {
      action: toolAction("files", "write_file", { path: "~/p/app/x.md", content: "text x" }),
      answer: { modify: { path: "y", content: "z" } },
    };
    expect(await reasonsOf([...writes("approve", FIVE), edit])).toEqual([
      "allow write_file on files 5: you denied or edited a call that it would cover",
    ]);
    expect(await reasonsOf(FIVE.map(() => edit))).toEqual([
      "allow write_file on files 5: it was approved only with edits",
    ]);
  });

  it("does not count what nobody answered", async () => {
    expect(
      await reasonsOf([...writes("approve", FIVE.slice(1)), ...writes("ignore", FIVE)]),
    ).toEqual([]);
  });

  it.each<[string, readonly Step[]]>([
    [
      "its category is one that a person reviews every time",
      calls(
        "approve",
        "send_email",
        FIVE.map((to) => ({ to })),
      ),
    ],
    ["its category is one that a person reviews every time", five(() => shellAction("git status"))],
    [
      "its name says that it deletes, runs, pays, sends or changes rights",
      calls(
        "approve",
        "bulk_delete",
        FIVE.map(() => ({})),
      ),
    ],
    [
      "it uses a secret",
      calls(
        "approve",
        "write_file",
        FIVE.map((path) => ({ path, token: "{{secret:TOKEN}}" })),
      ),
    ],
  ])("never suggests to allow: %s", async (reason, steps) => {
    const [said] = await reasonsOf(steps);
    expect(said).toContain(reason);
  });

  it.each([
    ["its level is high or critical", "level: high"],
    ["several people must agree", "quorum: 2"],
    ["the rule that asks names who must be asked", "approvers: [ada]"],
    ["it uses a secret", "secrets: [TOKEN]"],
    ["approving it needs a passkey", "approval: passkey"],
  ])("never suggests to allow: %s, as the policy asks by now", async (reason, term) => {
    const policy = `rules:\n  - match: { tool: "write_*" }\n    action: ask\n    ${term}\n`;
    expect(await reasonsOf(await logOf(writes("approve", FIVE)), { policy })).toEqual([
      `allow write_file on files 5: ${reason}`,
    ]);
  });

  it("has no rule for what the log does not hold as it was", async () => {
    const masked = (await logOf(writes("approve", FIVE))).map((event) =>
      event.eventType === "tool_call_intercepted"
        ? { ...event, metadata: { ...event.metadata, parameters: { path: "[secret X]" } } }
        : event,
    );
    expect(await reasonsOf(masked)).toEqual([
      "allow write_file 5: the log does not hold its arguments as they were",
    ]);
  });

  it("suggests nothing beside a denied call that the log does not hold", async () => {
    const events = await logOf([...writes("approve", FIVE), ...writes("deny", ["/elsewhere"])]);
    const masked = events.map((event): LoggedEvent => {
      const { parameters } = event.metadata;
      const isDenied = JSON.stringify(parameters)?.includes("/elsewhere");
      return isDenied ? { ...event, metadata: { ...event.metadata, parameters: {} } } : event;
    });
    expect((await suggest(events)).suggestions).toHaveLength(1);
    expect(await reasonsOf(masked)).toEqual([
      "allow write_file on files 5: an answered call cannot be compared with it",
    ]);
  });

  it("reads signed logs, where each question stands as it was asked", async () => {
    const signer = createConsentSigner(generateKeyPair());
    const named =
      'default: ask\nrules:\n  - match: { tool: "write_*" }\n    action: ask\n    secrets: [TOKEN]\n';
    expect(
      (await suggest(await logOf(writes("approve", FIVE), { signer }))).suggestions,
    ).toHaveLength(1);
    // The question named a secret then; that the policy has forgotten it does not make the answer
    // another one.
    expect(
      await reasonsOf(await logOf(writes("approve", FIVE), { signer, policy: named })),
    ).toEqual(["allow write_file on files 5: it uses a secret"]);
  });

  it("leaves alone what the policy answers by now", async () => {
    const events = await logOf(writes("approve", FIVE));
    for (const action of ["allow", "deny"]) {
      expect(
        await reasonsOf(events, {
          policy: `rules:\n  - match: { tool: write_file }\n    action: ${action}\n`,
        }),
      ).toEqual([]);
    }
  });

  it("allows one host, port and method, and says that everything there is open", async () => {
    const { suggestions } = await suggest(
      five((index) => httpAction("GET", `https://api.example.com/v1/${index}`)),
    );
    expect(suggestions.map(({ rule, covers }) => [rule["match"], covers])).toEqual([
      [
        { kind: "http", host: "api.example.com", port: 443, method: "GET" },
        [
          {
            argument: "url",
            what: "every path and query at this host and port, with every header and body",
          },
        ],
      ],
    ]);
  });

  it("makes a rule for each value that has answers enough, and none for the others", async () => {
    const issues = (repo: string, count: number): readonly Step[] =>
      calls(
        "approve",
        "create_issue",
        Array.from({ length: count }, (_, index) => ({
          repo,
          state: "open",
          title: `${repo} ${index}`,
        })),
        "github",
      );
    const two = matchesOf(await suggest([...issues("site", 5), ...issues("api", 6)]));
    expect(two.map((match) => Object(match).args.repo)).toEqual(["api", "site"]);
    const closing = calls(
      "approve",
      "create_issue",
      [{ repo: "site", state: "closed", title: "x" }],
      "github",
    );
    expect(
      matchesOf(await suggest([...issues("site", 5), ...closing])).map(
        (match) => Object(match).args.state,
      ),
    ).toEqual(["open"]);
  });
});

describe("suggestRules()", () => {
  it("reads the log twice, and once where nothing can be suggested", async () => {
    const events = await logOf(writes("approve", FIVE));
    let reads = 0;
    const history = (list: readonly LoggedEvent[]) => () => {
      reads++;
      return list;
    };
    const { events: count } = await suggestRules(history(events), ASK_ALL, origins);
    expect([reads, count]).toEqual([2, events.length]);
    reads = 0;
    await suggestRules(history(events.slice(0, 5)), ASK_ALL, origins);
    expect(reads).toBe(1);
  });

  it("shows denies first, then what would have answered most", async () => {
    const many = calls(
      "approve",
      "create_page",
      Array.from({ length: 7 }, (_, index) => ({ title: `t${index}` })),
    );
    const { suggestions } = await suggest([
      ...writes("approve", FIVE),
      ...many,
      ...calls("deny", "create_user", [{}, {}, {}]),
    ]);
    expect(suggestions.map(({ effect, about }) => `${effect} ${about}`)).toEqual([
      "deny create_user on files",
      "allow create_page on files",
      "allow write_file on files",
    ]);
  });

  it("gives every rule an id of its own", async () => {
    const other = writes(
      "approve",
      FIVE.map((path) => path.replace("~/p", "/srv/q")),
    );
    const policy = `rules:\n  - id: allow-files-write_file\n    match: { tool: x }\n    action: ask\n`;
    const { suggestions } = await suggest([...writes("approve", FIVE), ...other], { policy });
    expect(suggestions.map(({ rule }) => rule["id"])).toEqual([
      "allow-files-write_file-2",
      "allow-files-write_file-3",
    ]);
  });

  it("counts an agent's call the same as another's, and names them", async () => {
    const steps = writes("approve", FIVE).map((step, index) => ({
      ...step,
      agent: `agent-${index % 2}`,
    }));
    const [found] = allowed(await suggest(steps));
    expect(found?.agents).toEqual(["agent-0", "agent-1"]);
  });

  it("hears an objection that came after more than can be learned", async () => {
    const write = (index: number, answer: Past["answer"]): Past => ({
      action: toolAction("files", "write_file", { path: `/srv/app/f${index}.md`, content: "x" }),
      answer,
    });
    const approved = Array.from({ length: 2_100 }, (_, index) => write(index, "approved"));
    const events = (past: readonly Past[]): readonly LoggedEvent[] => past.flatMap(eventsOf);
    const { suggestions } = await suggest(events(approved));
    expect(suggestions.map(({ answered }) => answered.approved)).toEqual([2_100]);
    expect(await reasonsOf(events([...approved, write(5_000, "denied")]))).toEqual([
      "allow write_file on files 2100: you denied or edited a call that it would cover",
    ]);
  });

  it("tries no more rules at once than memory holds", async () => {
    const past = Array.from(
      { length: 42 },
      (_, index): Past => ({
        action: toolAction("files", `create_${index % 14}`),
        answer: "approved",
      }),
    );
    const policy = (rules: number): string =>
      JSON.stringify({
        version: "1",
        rules: Array.from({ length: rules }, (_, index) => ({
          match: { tool: `x${index}` },
          action: "ask",
        })),
      });
    const found = async (rules: number): Promise<number> =>
      (await suggest(past.flatMap(eventsOf), { policy: policy(rules), min: 3 })).suggestions.length;
    expect(await found(1)).toBe(14);
    expect(await found(4_000)).toBe(12);
  });

  it("reads a policy as strictly as a gate does", async () => {
    await expect(suggest([], { policy: "rules: [{}]" })).rejects.toMatchObject({
      code: "policy_invalid",
    });
  });
});
