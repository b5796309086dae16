import type { ConsentRequest, Ending } from "@acp/core";
import { askDouble, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import {
  type Edit,
  type Question,
  type Sheet,
  drawEnding,
  drawSheet,
  keepMarks,
  makeSheet,
  showSender,
  whyNoYes,
} from "./sheet.js";

const critical = { policy: { ruleId: "rule_1", ruleName: "", requiredLevel: "critical" } } as const;
const long = { text: `Agent: agent-1\n${"x".repeat(9_000)}\nDigest: sha256:0` };
const offers: ConsentRequest["offers"] = [
  { id: "exact-10m", scope: { kind: "action", digest: "sha256:0" }, ttlMs: 600_000 },
  { id: "tool-1h", scope: { kind: "tool", server: "files", name: "write_file" }, ttlMs: 3_600_000 },
];
const alice = { subject: "4711", name: "Alice" };

interface Given {
  readonly request?: Partial<ConsentRequest>;
  readonly edit?: Edit;
  readonly redelivery?: boolean;
  readonly seen?: Sheet["seen"];
}

function sheet({ request = {}, edit, redelivery = false, seen }: Given = {}): Sheet {
  const { request: asked, session } = askDouble(sampleRequest(request), { redelivery });
  const question: Question = {
    request: asked,
    session,
    over: new AbortController(),
    sheets: new Set(),
    answering: new Set(),
  };
  const made = makeSheet(question, edit);
  if (seen !== undefined) made.seen = seen;
  return made;
}

const labels = (drawn: Sheet): readonly (readonly string[])[] =>
  drawSheet(drawn).rows.map((row) => row.map(({ label }) => label));
const edit: Edit = { editor: alice, parameters: { path: "b.txt", content: "hello" } };

describe("drawSheet()", () => {
  it("shows the whole text between its level and what it is about", () => {
    const drawn = sheet();
    const { request } = drawn.question;
    const { text, hiddenChars } = drawSheet(drawn);
    expect(hiddenChars).toBe(0);
    expect(text).toBe(
      `MEDIUM · an agent asks for consent\n\n${request.text}\n\n↑ 7 lines: call write_file on files (medium) · ${request.id}\nOr reply to this message: deny and why, or all arguments as one JSON object.`,
    );
  });

  it("says that a question was asked before, and how many said yes", () => {
    const drawn = sheet({ redelivery: true });
    drawn.question.count = { have: 1, need: 2 };
    expect(drawSheet(drawn).text).toMatch(
      /^MEDIUM · an agent asks for consent, again after a restart · 1 of 2 approved\n/,
    );
  });

  it.each<[string, Given, readonly (readonly string[])[]]>([
    ["a question", {}, [["Approve"], ["Deny", "Details"]]],
    [
      "a question with offers",
      { request: { offers } },
      [["Approve"], ["Approve + exact-10m"], ["Approve + tool-1h"], ["Deny", "Details"]],
    ],
    ["a critical question", { request: { ...critical, offers } }, [["Deny", "Details"]]],
    [
      "a question for a passkey",
      { request: { evidence: "passkey", offers } },
      [["Deny", "Details"]],
    ],
    [
      "a question that does not fit",
      { request: { ...long, offers } },
      [["Send all of it as a file"], ["Deny", "Details"]],
    ],
    [
      "a question that Telegram altered",
      { seen: "altered" },
      [["Send all of it as a file"], ["Deny", "Details"]],
    ],
    [
      "a question that came as a file",
      { request: long, seen: "as a file" },
      [["Approve"], ["Deny", "Details"]],
    ],
    [
      "a critical one that does not fit",
      { request: { ...critical, ...long } },
      [["Send all of it as a file"], ["Deny", "Details"]],
    ],
    [
      "a critical one that came as a file",
      { request: { ...critical, ...long }, seen: "as a file" },
      [["Deny", "Details"]],
    ],
    [
      "a passkey's that does not fit",
      { request: { evidence: "passkey", ...long } },
      [["Deny", "Details"]],
    ],
    ["changed arguments", { edit }, [["Allow with these changes"], ["Keep as proposed"]]],
    ["changed arguments of a critical call", { request: critical, edit }, [["Keep as proposed"]]],
    [
      "changed arguments that do not fit",
      { edit: { ...edit, parameters: { path: "x".repeat(9_000) } } },
      [["Send all of it as a file"], ["Keep as proposed"]],
    ],
  ])("offers for %s", (_what, given, rows) => {
    expect(labels(sheet(given))).toEqual(rows);
  });

  it("announces what does not fit, with its digest, until the file has it", () => {
    const drawn = sheet({ request: long });
    const { text, hiddenChars } = drawSheet(drawn);
    expect(hiddenChars).toBeGreaterThan(8_000);
    expect(text).toContain(
      `\n${hiddenChars} of ${long.text.length} characters: not shown here. All of it: sha256:`,
    );
    expect(text).toContain("You can approve this only after the whole of it was sent as a file.");
    drawn.seen = "as a file";
    expect(drawSheet(drawn).text).toContain(
      `\n${hiddenChars} of ${long.text.length} characters: the file has them. All of it: sha256:`,
    );
  });

  it("asks for the typed word where a tap is not enough", () => {
    expect(drawSheet(sheet({ request: critical })).text).toContain(
      "To allow it, reply to this message with the word approve.",
    );
    expect(drawSheet(sheet({ request: { evidence: "passkey" } })).text).toContain(
      "You can deny it here",
    );
  });

  it("never makes more than a message or a keyboard that Telegram takes", () => {
    const many = Array.from({ length: 200 }, (_, i) => ({
      ...offers[0],
      id: `${i}-${"o".repeat(60)}`,
    }));
    const drawn = drawSheet(
      sheet({ request: { offers: many as ConsentRequest["offers"], text: "y\n".repeat(9_000) } }),
    );
    expect(drawn.text.length).toBeLessThanOrEqual(4_096);
    const whole = drawSheet(sheet({ request: { offers: many as ConsentRequest["offers"] } }));
    expect(whole.rows.length).toBeLessThanOrEqual(22);
    for (const { label } of whole.rows.flat()) expect(label.length).toBeLessThanOrEqual(64);
  });

  it("shows marks that Telegram drops as escapes", () => {
    const text = 'With:\n  "/data/a\u030a\u0333\u033f"';
    expect(drawSheet(sheet({ request: { text } })).text).toContain(
      '"/data/a\\u030a\\u0333\\u033f"',
    );
    expect(keepMarks("e\u0301")).toBe("e\u0301");
  });
});

describe("whyNoYes()", () => {
  it("is nothing where the text stands in the chat whole", () => {
    expect(whyNoYes(sheet({ seen: "whole" }))).toBeUndefined();
    expect(whyNoYes(sheet({ seen: "as a file" }))).toBeUndefined();
  });

  it.each<[string, Given]>([
    ["as long as it is not in the chat", {}],
    ["where a part of it is", { seen: "in part" }],
    ["where Telegram altered it", { seen: "altered" }],
  ])("is that not all was shown %s", (_when, given) => {
    expect(whyNoYes(sheet(given))).toContain("part of it was not shown");
  });

  it("is the passkey where it takes one", () => {
    expect(whyNoYes(sheet({ request: { evidence: "passkey" }, seen: "whole" }))).toContain(
      "passkey",
    );
  });
});

describe("drawEnding()", () => {
  const drawn = (ending: Ending, by?: typeof alice): string => {
    const over = sheet();
    if (by !== undefined) over.question.endedBy = by;
    return drawEnding(over, ending).text;
  };

  it.each<[Ending, string]>([
    [{ status: "approved", reason: "" }, "APPROVED by Alice (4711)"],
    [
      { status: "approved_with_modifications", reason: "" },
      "APPROVED WITH CHANGED ARGUMENTS by Alice (4711)",
    ],
    [{ status: "denied", reason: "not\u202e now" }, "DENIED by Alice (4711): not\\u202e now"],
    [{ status: "superseded", reason: "" }, "REPLACED by a new question by Alice (4711)"],
    [{ status: "expired", reason: "" }, "EXPIRED: nobody answered in time, the call was denied"],
    [
      { status: "cancelled", reason: "the agent left" },
      "WITHDRAWN: the call was not made: the agent left",
    ],
    [{ status: "failed", reason: "audit" }, "FAILED: the call was denied: audit"],
  ])("heads what it was about with %j", (ending, heading) => {
    const text = drawn(ending, alice);
    expect(text.split("\n")[0]).toBe(heading);
    expect(text).toContain("Wants: call write_file on files");
  });

  it("says that it was answered elsewhere, and offers nothing", () => {
    expect(drawn({ status: "approved", reason: "" })).toMatch(/^APPROVED, elsewhere\n/);
    expect(drawEnding(sheet(), { status: "denied", reason: "" }).rows).toEqual([]);
  });

  it("fits whatever the reason and the text are", () => {
    const over = sheet({ request: long });
    over.question.endedBy = { subject: "4711", name: "\u030a".repeat(64) };
    const { text } = drawEnding(over, { status: "denied", reason: "\u0000".repeat(1_000) });
    expect(text.length).toBeLessThanOrEqual(4_096);
    expect(text).toContain(
      `of ${long.text.length} characters are not shown here. All of it: sha256:`,
    );
  });
});

describe("showSender()", () => {
  it("always says the number", () => {
    expect([showSender(alice), showSender({ subject: "4711", name: "" })]).toEqual([
      "Alice (4711)",
      "4711",
    ]);
  });
});
