import { describe, expect, it } from "vitest";
import { isInForeground, passSignals, statIsInForeground } from "./pass-signals.js";

/** Signals by hand. */
function world(): {
  readonly send: (name: NodeJS.Signals) => void;
  readonly signals: ReturnType<typeof passSignals>;
} {
  const takers = new Map<string, (name: NodeJS.Signals) => void>();
  const signals = passSignals({
    onSignals: (names, take) => names.forEach((name) => takers.set(name, take)),
  });
  return { signals, send: (name) => takers.get(name)?.(name) };
}

describe("passSignals()", () => {
  it("hands every signal to the agent, once", () => {
    const { signals, send } = world();
    const got: string[] = [];
    signals.to({ pid: 0, kill: (name) => got.push(name) });
    const names = [
      "SIGINT",
      "SIGTERM",
      "SIGHUP",
      "SIGQUIT",
      "SIGWINCH",
      "SIGCONT",
      "SIGUSR1",
      "SIGUSR2",
    ] as const;
    names.forEach(send);
    expect(got).toEqual(names);
    expect(signals.stopped.aborted).toBe(false);
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const)(
    "ends the start where %s comes before there is an agent",
    (name) => {
      const { signals, send } = world();
      send("SIGWINCH");
      send("SIGUSR1");
      expect(signals.stopped.aborted).toBe(false);
      send(name);
      send("SIGTERM");
      expect([signals.stopped.aborted, signals.stoppedBy()]).toEqual([true, name]);
    },
  );
});

describe("statIsInForeground()", () => {
  it.each([
    ["its group is the terminal's foreground group", "7 (sh) S 1 7 7 34816 7 4194304 0", true],
    ["another group is", "7 (sh) S 1 7 7 34816 9 4194304 0", false],
    ["it has no terminal", "7 (sh) S 1 7 7 0 -1 4194304 0", false],
    ["its name looks like a line", "7 (a) S 1 7 7 0 7) S 1 7 7 34816 9 4194304 0", false],
    ["its terminal is one of its own", "7 (sh) S 1 7 9 34816 7 4194304 0", false],
    ["there is nothing", "", false],
  ])("where %s", (_when, stat, expected) => {
    expect(statIsInForeground(stat, "5 (acp) S 1 5 7 34816 7 4194304 0")).toBe(expected);
  });
});

it("isInForeground() is false of a process that is not there", () => {
  expect(isInForeground(2 ** 30)).toBe(false);
});
