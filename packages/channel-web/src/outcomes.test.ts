import { manualClock, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { setUp as setUpInbox } from "../test/setup.js";
import type { Settings } from "./options.js";
import { createOutcomes } from "./outcomes.js";
import type { QuestionOutcome, RunOutcome } from "./question-source.js";
import { type Change, createQuestions, type Entry } from "./questions.js";

/** An inbox's questions, and logs in the test's hands. */
function setUp() {
  const clock = manualClock();
  const questions = createQuestions(clock);
  const changes: Change[] = [];
  questions.subscribe((change) => changes.push(change));
  const [logged, looks, warnings] = [
    new Map<string, QuestionOutcome>(),
    [] as (readonly string[])[],
    [] as string[],
  ];
  const disk = { isBroken: false };
  const settings = {
    clock,
    warn: (text: string) => warnings.push(text),
    async outcomes(ids: readonly string[]) {
      looks.push(ids);
      if (disk.isBroken) throw new Error("disk on fire");
      return ids.flatMap((id) => logged.get(id) ?? []);
    },
  } satisfies Partial<Settings>;
  // The rest of the settings is none of its business.
  const outcomes = createOutcomes(questions, settings as Partial<Settings> as Settings);
  const put = (id: string): Entry => {
    const entry = questions.put({
      carrier: { channel: "terminal", subject: "local" },
      question: { request: sampleRequest({ id, createdAtMs: clock.now() }), redelivery: false },
      submit: async () => ({ status: "final", outcome: "approved" }),
    });
    if (entry === undefined) throw new Error("no entry");
    return entry;
  };
  const log = (id: string, status: QuestionOutcome["status"], run?: RunOutcome): void =>
    void logged.set(id, {
      id,
      status,
      reason: "so says the log",
      atMs: 7,
      ...(run === undefined ? {} : { run }),
    });
  const approve = (id: string): Entry => {
    const entry = put(id);
    questions.end(entry, { status: "approved", reason: "" });
    return entry;
  };
  const runs = (): readonly string[] =>
    changes.flatMap((change) => (change.type === "run" ? [change.run.state] : []));
  return { clock, questions, changes, looks, warnings, disk, outcomes, put, log, approve, runs };
}

describe("a question whose gate was lost", () => {
  it("ends as the gate's log says, when it says so, and not before", async () => {
    const { clock, questions, changes, put, log } = setUp();
    const entry = put("cr_1");
    questions.lose(entry);
    await clock.advance(1_000);
    expect(questions.find("cr_1")).toBe("lost");
    log("cr_1", "denied");
    await clock.advance(500);
    expect(questions.find("cr_1")).toBe("ended");
    expect(changes.at(-1)).toEqual({
      type: "ended",
      entry,
      ending: { status: "denied", reason: "so says the log" },
      atMs: 7,
    });
  });

  it("is told what became of its yes", async () => {
    const { clock, questions, put, log, runs } = setUp();
    questions.lose(put("cr_1"));
    log("cr_1", "approved", { state: "ran" });
    await clock.advance(500);
    expect([questions.find("cr_1"), runs()]).toEqual(["ended", ["ran"]]);
  });

  it("stays up where it opened again while the log was read", async () => {
    const { clock, questions, outcomes, put, log } = setUp();
    questions.lose(put("cr_1"));
    await clock.advance(0);
    log("cr_1", "expired");
    const looking = outcomes.look();
    const again = put("cr_1");
    await looking;
    expect(questions.find("cr_1")).toBe(again);
  });

  it("is looked for also after the logs could not be read, which is said once", async () => {
    const { clock, questions, disk, warnings, put, log } = setUp();
    disk.isBroken = true;
    questions.lose(put("cr_1"));
    await clock.advance(2_000);
    expect(warnings).toEqual(["Cannot read the outcomes of questions: disk on fire"]);
    disk.isBroken = false;
    log("cr_1", "denied");
    await clock.advance(500);
    expect(questions.find("cr_1")).toBe("ended");
  });

  it("is looked up with no more others than a look takes", async () => {
    const { clock, questions, looks, put } = setUp();
    for (let index = 0; index < 1_100; index += 1) questions.lose(put(`cr_${index}`));
    looks.length = 0;
    await clock.advance(500);
    expect(looks.slice(-3).map(({ length }) => length)).toEqual([500, 500, 100]);
  });
});

describe("a yes", () => {
  it("is followed until it is settled, and each step of it is told once", async () => {
    const { clock, looks, approve, log, runs } = setUp();
    approve("cr_1");
    log("cr_1", "approved", { state: "waiting" });
    await clock.advance(1_000);
    log("cr_1", "approved", { state: "started" });
    await clock.advance(1_000);
    log("cr_1", "approved", { state: "failed", error: "TypeError" });
    await clock.advance(1_000);
    expect(runs()).toEqual(["waiting", "started", "failed"]);
    const { length } = looks;
    await clock.advance(10_000);
    expect(looks).toHaveLength(length);
  });

  it("is not followed where nobody comes for it", async () => {
    const { clock, looks, approve, log } = setUp();
    approve("cr_1");
    log("cr_1", "approved", { state: "waiting" });
    await clock.advance(15 * 60_000 + 1_000);
    const { length } = looks;
    await clock.advance(10_000);
    expect(looks).toHaveLength(length);
  });

  it("is not looked up where it was a no, or once the inbox is closed", async () => {
    const { clock, questions, outcomes, looks, put, approve } = setUp();
    questions.end(put("cr_1"), { status: "denied", reason: "" });
    await clock.advance(1_000);
    expect(looks).toEqual([]);
    approve("cr_2");
    await clock.advance(0);
    const { length } = looks;
    outcomes.clear();
    approve("cr_3");
    await clock.advance(5_000);
    expect(looks.length).toBeLessThanOrEqual(length + 1);
  });

  it.each<[string, RunOutcome | undefined, RunOutcome | undefined, RunOutcome | undefined]>([
    ["what the gate said, before its log does", undefined, { state: "ran" }, { state: "ran" }],
    [
      "what the gate said last, where its log is behind",
      { state: "started" },
      { state: "failed" },
      { state: "failed" },
    ],
    [
      "what the log says, where both know an end",
      { state: "unknown" },
      { state: "ran" },
      { state: "unknown" },
    ],
    [
      "what the log says, where the gate said nothing",
      { state: "started" },
      undefined,
      { state: "started" },
    ],
  ])("is found with %s", async (_, inLog, heard, told) => {
    const { questions, outcomes, approve, log } = setUp();
    const entry = approve("cr_1");
    if (heard !== undefined) questions.tellRun(entry, heard);
    if (inLog !== undefined) log("cr_1", "approved", inLog);
    expect((await outcomes.find(["cr_1", "cr_2"])).get("cr_1")).toMatchObject({
      status: "approved",
      run: told,
    });
    expect((await outcomes.find(["cr_2"])).size).toBe(0);
  });

  it("is not found where the logs cannot be read", async () => {
    const { outcomes, disk, approve } = setUp();
    approve("cr_1");
    disk.isBroken = true;
    await expect(outcomes.find(["cr_1"])).rejects.toThrow("disk on fire");
  });
});

describe("POST /api/outcomes", () => {
  const gone: QuestionOutcome = { id: "cr_gone", status: "denied", reason: "two\nlines", atMs: 7 };

  it("tells what is open, what the logs have, and what nobody knows", async () => {
    const { ask, signedIn } = setUpInbox({
      outcomes: async () => [gone, { ...gone, id: "cr_open" }],
    });
    await ask({ id: "cr_open" });
    const { body } = await (await signedIn()).post("/api/outcomes", {
      ids: ["cr_open", "cr_gone", "cr_never"],
    });
    expect(body).toEqual({
      outcomes: [
        { id: "cr_open", status: "open" },
        {
          id: "cr_gone",
          status: "denied",
          reason: expect.not.stringContaining("\n") as string,
          at: 7,
        },
        { id: "cr_never", status: "unknown" },
      ],
    });
  });

  it("is refused for more than it looks up at once, and where the logs cannot be read", async () => {
    const { signedIn, warnings } = setUpInbox({
      outcomes: () => Promise.reject(new Error("disk on fire")),
    });
    const page = await signedIn();
    const ids = Array.from({ length: 501 }, (_, index) => `cr_${index}`);
    expect(await page.post("/api/outcomes", { ids })).toMatchObject({
      status: 400,
      body: { code: "body_invalid" },
    });
    expect(await page.post("/api/outcomes", { ids: ids.slice(1) })).toMatchObject({
      status: 503,
      body: { code: "history_unavailable" },
    });
    expect(warnings).toContain("Cannot read the outcomes of questions: disk on fire");
  });
});
