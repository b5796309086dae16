import { describe, expect, it } from "vitest";
import { httpAction, shellAction, toolAction } from "@acp/core";
import type { Action, AskTerms } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { barOf, saysTaking, wordsOf } from "./bars.js";
import type { Answered } from "./bars.js";

const { classify } = parsePolicy({
  version: "1",
  default: "ask",
  classify: [{ tool: "open_door", category: "physical", risk: "low" }],
});
const question = { riskLevel: "medium", quorum: 1, wantsPasskey: false, hasSecrets: false };
const of = (action: Action, change: Partial<Answered> = {}): string | undefined =>
  barOf({ action, question, ruling: undefined, classification: classify(action), ...change });
const tool = (name: string, args: object = {}): Action => toolAction("s", name, args);
const asks = (ask: AskTerms): Partial<Answered> => ({
  ruling: { effect: "ask", ruleId: "r", reason: "", ask },
});

describe("barOf()", () => {
  it.each([
    "write_file",
    "read_file",
    "get_message",
    "create_issue",
    "search_orders",
    "GetPayment",
  ])("lets %s be", (name) => {
    expect(of(tool(name))).toBeUndefined();
  });

  it.each([
    ["category", tool("send_email")],
    ["category", tool("delete_file")],
    ["category", tool("transfer_money")],
    ["category", tool("publish_post")],
    ["category", tool("open_door")],
    ["category", shellAction("ls")],
    ["name", tool("file_delete")],
    ["name", tool("bulkRemoveAll")],
    ["name", tool("get_and_delete")],
    ["name", tool("rm")],
    ["name", tool("run_tests")],
    ["name", tool("quick_pay")],
    ["name", tool("add_permission")],
    ["name", tool("create_api_key")],
    ["name", httpAction("DELETE", "https://a.example/")],
    ["secrets", tool("write_file", { token: "{{secret:TOKEN}}" })],
    ["secrets", tool("write_file", { token: "[secret TOKEN]" })],
  ])("bars by %s: action %#", (bar, action) => {
    expect(of(action)).toBe(bar);
  });

  it.each([
    ["risk", { question: { ...question, riskLevel: "high" } }],
    ["risk", { question: { ...question, riskLevel: "critical" } }],
    ["risk", { question: { ...question, riskLevel: "of tomorrow" } }],
    ["risk", { ruling: { effect: "ask", ruleId: "r", reason: "", level: "high" } as const }],
    ["risk", { classification: { category: "write", risk: "critical" } as const }],
    ["quorum", { question: { ...question, quorum: 2 } }],
    ["quorum", asks({ quorum: 2 })],
    ["passkey", { question: { ...question, wantsPasskey: true } }],
    ["passkey", asks({ evidence: "passkey" })],
    ["approvers", asks({ approvers: ["ada"] })],
    ["secrets", { question: { ...question, hasSecrets: true } }],
    [
      "secrets",
      { ruling: { effect: "ask", ruleId: "r", reason: "", secrets: ["TOKEN"] } as const },
    ],
  ])("bars by %s: %j", (bar, change) => {
    expect(of(tool("write_file"), change)).toBe(bar);
  });
});

describe("wordsOf()", () => {
  it.each([
    ["deleteFile", ["delete", "file"]],
    ["HTTPDelete-all.now", ["http", "delete", "all", "now"]],
    ["__x__", ["x"]],
    ["", []],
  ])("splits %j", (name, words) => {
    expect(wordsOf(name)).toEqual(words);
  });
});

describe("saysTaking()", () => {
  it.each(["drop_table", "Erasing", "wipe", "truncate-log", "EXECUTE"])(
    "hears it in %s",
    (name) => {
      expect(saysTaking(name)).toBe(true);
    },
  );
  it.each(["create", "backdrop", "keep_all", ""])("does not in %j", (name) => {
    expect(saysTaking(name)).toBe(false);
  });
});
