import { describe, expect, it } from "vitest";
import { createProxyLog } from "./proxy-log.js";

const ENTRY = {
  level: "info",
  event: "broke_off",
  text: "the agent is gone",
  method: "GET",
  host: "a.test",
  agent: "curl",
  code: "request_invalid",
} as const;

function written(json: boolean): {
  readonly log: ReturnType<typeof createProxyLog>;
  readonly lines: readonly string[];
} {
  const lines: string[] = [];
  const print = {
    json,
    result: () => undefined,
    notice: () => undefined,
    tone: (_: string, text: string) => text,
  };
  return {
    log: createProxyLog({ print, stderr: { write: (line: string) => lines.push(line) } }),
    lines,
  };
}

describe("createProxyLog()", () => {
  it("writes a line for a person", () => {
    const { log, lines } = written(false);
    log(ENTRY);
    log({ level: "warn", event: "note", text: "something is odd" });
    expect(lines).toEqual([
      "acp: broke off GET a.test by curl: the agent is gone [request_invalid]\n",
      "acp: something is odd\n",
    ]);
  });

  it("writes one JSON object a line for a program", () => {
    const { log, lines } = written(true);
    log({ ...ENTRY, text: "two\nlines" });
    expect(lines[0]).toMatch(/^[^\n]*\n$/);
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      ...ENTRY,
      text: "two\nlines",
      time: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  it("keeps a line for a person one line", () => {
    const { log, lines } = written(false);
    log({ ...ENTRY, text: "two\nlines \u001b[31m" });
    expect(lines[0]).toMatch(/^[^\n\u001b]*\n$/);
  });
});
