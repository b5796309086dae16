import { describe, expect, it } from "vitest";
import { leadingWords, lookAtAgent } from "./agent-process.js";

describe("leadingWords()", () => {
  it.each([
    [["node", "/usr/bin/client", "--key=secret", "x"], "node /usr/bin/client"],
    [["client", "-k", "secret"], "client"],
    [["sh", "-c", "secret"], "sh"],
    [["client", "run", ""], "client run"],
    [[""], ""],
  ])("of %j stops before the first option, whose value may be a secret", (words, expected) => {
    expect(leadingWords(words)).toBe(expected);
  });
});

describe("lookAtAgent()", () => {
  it("knows this very process", async () => {
    expect(await lookAtAgent(process.pid)).toEqual({
      sharesUid: true,
      command: expect.stringContaining("node"),
    });
  });

  it("assumes the worse of a process that it cannot see", async () => {
    expect(await lookAtAgent(2 ** 30)).toEqual({ sharesUid: true });
  });
});
