import { describe, expect, it } from "vitest";
import { httpAction, shellAction, toolAction } from "../action/action.js";
import type { Category, RiskLevel } from "../types/words.js";
import { classifyTool, createClassifier, riskiest } from "./classify.js";
import type { ClassifyRow } from "./classify.js";
import type { Classification } from "./policy.js";

describe("classifyTool()", () => {
  it.each([
    ["read_file get_x list_x search_x", "read", "low"],
    ["write_x create_x update_x", "write", "medium"],
    ["send_x email_x message_x", "communication", "high"],
    ["delete_x remove_x drop_x", "system", "high"],
    ["deploy_x exec execute execute_sql exec_x shell_x", "system", "high"],
    ["transfer_x pay_x charge_x", "financial", "critical"],
    ["publish_x post_x tweet_x", "public", "high"],
    ["frobnicate x get gets getaway read reading reader_x _ 日本", "write", "medium"],
  ])("reads %s as %s, %s", (names, category, risk) => {
    for (const name of names.split(" "))
      expect({ name, ...classifyTool(name) }).toEqual({ name, category, risk });
  });

  it.each([
    "delete_file",
    "deleteFile",
    "DeleteFile",
    "delete-file",
    "DELETE_FILE",
    "delete.file",
    "Delete File",
    "deleteHTTPFile",
    "_delete_file",
  ])("reads %s as a delete", (name) => {
    expect(classifyTool(name)).toEqual({ category: "system", risk: "high" });
  });

  it.each([
    "fs.delete_file",
    "fs__delete_file",
    "fs/deleteFile",
    "fs:DeleteFile",
    "mcp__fs__delete-file",
    "a.b.delete_x",
  ])("reads the last part of %s", (name) => {
    expect(classifyTool(name)).toEqual({ category: "system", risk: "high" });
  });

  it.each(["github.get_issue", "github__getIssue", "HTTPServer/listFiles"])(
    "reads %s as a read",
    (name) => {
      expect(classifyTool(name)).toEqual({ category: "read", risk: "low" });
    },
  );

  it.each(["delete_all.get_x", "get_x.delete_all", "get_x.delete", "pay__get_x"])(
    "takes the riskier reading of %s",
    (name) => {
      expect(classifyTool(name).risk).not.toBe("low");
    },
  );

  it("lets a verb alone raise the risk, never lower it", () => {
    expect(classifyTool("delete").risk).toBe("high");
    expect(classifyTool("pay").risk).toBe("critical");
    expect(classifyTool("search").risk).toBe("medium");
  });
});

const row = (name: string, category: Category, risk: RiskLevel): ClassifyRow => ({
  proves: (text) => text === name,
  hints: (text) => text.toLowerCase() === name,
  says: { category, risk },
});

describe("createClassifier()", () => {
  const rows = [row("read_door", "physical", "critical"), row("delete_draft", "read", "low")];
  const classify = createClassifier(rows);

  it.each([
    [httpAction("GET", "https://a.example/"), "read", "low"],
    [httpAction("HEAD", "https://a.example/"), "read", "low"],
    [httpAction("POST", "https://a.example/"), "write", "medium"],
    [httpAction("CONNECT", "a.example:443"), "write", "medium"],
    [httpAction("OPTIONS", "https://a.example/"), "write", "medium"],
    [shellAction("ls"), "system", "high"],
    [toolAction("s", "read_file", {}), "read", "low"],
    [toolAction("s", "read_door", {}), "physical", "critical"],
  ] as const)("knows action %#", (action, category, risk) => {
    expect(classify(action)).toEqual([{ category, risk }]);
    expect(classify(action)).toEqual([{ category, risk }]);
  });

  it("keeps all that an uncertain name may be taken for, so that the riskiest counts", () => {
    const of = (name: string): Classification => riskiest(classify(toolAction("s", name, {})));
    expect(of("delete_draft").risk).toBe("low");
    expect(of("Delete_Draft").risk).toBe("high");
    expect(of("READ_DOOR")).toEqual({ category: "physical", risk: "critical" });
    expect(of("dеlеte_all").risk).toBe("high"); // Cyrillic "е"
    expect(of("\u200bpay_all").risk).toBe("critical");
    expect(of("rеad_file").risk).toBe("medium");
  });

  it("asks once for a name, and forgets names beyond its bound", () => {
    const asked: string[] = [];
    const counting = createClassifier([
      { ...row("x", "read", "low"), proves: (name) => asked.push(name) === 0 },
    ]);
    for (let round = 0; round < 3; round++) counting(toolAction("s", "same", {}));
    expect(asked).toEqual(["same"]);
    for (let count = 0; count < 1_500; count++) counting(toolAction("s", `t${count}`, {}));
    counting(toolAction("s", "same", {}));
    expect(asked.filter((name) => name === "same")).toHaveLength(2);
  });
});
