import { askDouble } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { at, textAt } from "./json.js";
import { type Keys, createKeys } from "./keys.js";
import { type Key, type Sheet, makeSheet } from "./sheet.js";

const approve: Key = { label: "Approve", act: { kind: "approve" } };
const deny: Key = { label: "Deny", act: { kind: "deny" } };
const lease = (grantId: string): Key => ({ label: grantId, act: { kind: "lease", grantId } });

function sheet(): Sheet {
  const { request, session } = askDouble();
  return makeSheet({
    request,
    session,
    over: new AbortController(),
    sheets: new Set(),
    answering: new Set(),
  });
}

function issue(keys: Keys, on: Sheet, ...row: readonly Key[]): readonly string[] {
  const rows = at(keys.issue(on, [row]), "inline_keyboard");
  return Array.isArray(rows)
    ? rows.flat().map((button) => textAt(button, "callback_data") ?? "")
    : [];
}

describe("createKeys()", () => {
  it("makes data that fits, tells nothing and is never the same", () => {
    const keys = createKeys();
    const made = Array.from({ length: 500 }, () =>
      issue(keys, sheet(), approve, deny, lease("a")),
    ).flat();
    expect(new Set(made).size).toBe(1_500);
    for (const data of made) expect(data).toMatch(/^v1:[A-Za-z0-9_-]{22}$/);
  });

  it("finds what a button does, on its own sheet", () => {
    const keys = createKeys();
    const [mine, other] = [sheet(), sheet()];
    const [yes = "", long = ""] = issue(keys, mine, approve, lease("tool-10m"));
    issue(keys, other, approve);
    expect(keys.find(yes)).toMatchObject({ act: { kind: "approve" } });
    expect(keys.find(yes)?.sheet).toBe(mine);
    expect(keys.find(long)?.act).toEqual({ kind: "lease", grantId: "tool-10m" });
    expect(keys.find("v1:AAAAAAAAAAAAAAAAAAAAAA")).toBeUndefined();
    expect(keys.find("")).toBeUndefined();
  });

  it("forgets the buttons that a sheet has no more, and keeps the others", () => {
    const keys = createKeys();
    const on = sheet();
    const [yes = "", no = ""] = issue(keys, on, approve, deny);
    keys.find(no)?.usedBy.add("4711");
    const [again = "", long = ""] = issue(keys, on, deny, lease("a"));
    expect([again, keys.find(yes)]).toEqual([no, undefined]);
    expect(keys.find(no)?.usedBy.has("4711")).toBe(true);
    keys.revoke(on);
    expect([keys.find(no), keys.find(long)]).toEqual([undefined, undefined]);
    expect(issue(keys, on, deny)).not.toEqual([no]);
  });
});
