import { describe, expect, it } from "vitest";
import { MANAGER_CLASSES } from "./attempt.js";
import { managerAttempts } from "./attempts.js";

describe("managerAttempts", () => {
  it("are at least sixty, of every class and with every proof, each with an id of its own that fits a file's name", () => {
    expect(managerAttempts.length).toBeGreaterThanOrEqual(60);
    expect(new Set(managerAttempts.map(({ id }) => id)).size).toBe(managerAttempts.length);
    for (const { id } of managerAttempts) expect(id).toMatch(/^[a-z][a-z0-9-]{1,60}$/u);
    expect([...new Set(managerAttempts.map((attempt) => attempt.class))].toSorted()).toEqual(
      [...MANAGER_CLASSES].toSorted(),
    );
    expect(new Set(managerAttempts.map(({ provenBy }) => provenBy)).size).toBe(7);
  });

  it("can each be told from the others by what they do", () => {
    for (const { id, provenBy, file, agent, group, place } of managerAttempts) {
      if (provenBy === "change") expect([id, file]).not.toEqual([id, undefined]);
      if (provenBy === "survivor") expect([id, agent.includes("$TOKEN")]).toEqual([id, true]);
      expect([id, place !== undefined]).toEqual([id, group === "race"]);
    }
  });

  it("use a server, a variable or a terminal of their own only in starts of their own", () => {
    for (const { id, group, env, server, isAtTerminal } of managerAttempts) {
      if (env !== undefined || server !== undefined || isAtTerminal === true)
        expect([id, group]).toEqual([id, "own"]);
    }
  });

  it("signal no process that they do not see above them", () => {
    // In a world of its own -1 is still everybody of this user: the kit itself.
    for (const { id, agent, again = "" } of managerAttempts)
      expect([id, /kill\s+\S+\s+-1\b/u.test(agent + again)]).toEqual([id, false]);
  });
});
