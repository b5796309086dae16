import { describe, expect, it } from "vitest";
import type { HomeKeys } from "../gate/home-keys.js";
import { createLock } from "./lock.js";
import { lockCommands } from "./lock-home.js";

const KEYS: HomeKeys = { keys: undefined, gateOptions: {} };

function world() {
  const at = { nowMs: 0, closes: 0 };
  const said: string[] = [];
  const lock = createLock({
    open: () => Promise.resolve(KEYS),
    ttlMs: () => Promise.resolve(60_000),
    nowMs: () => at.nowMs,
    wallMs: () => 0,
  });
  const session = (isLocked: boolean) => {
    let end = (): void => undefined;
    const done = new Promise<void>((resolve) => (end = resolve));
    const left: string[] = [];
    return {
      isLocked: () => isLocked,
      leave: (how: string) => void left.push(how),
      left,
      done,
      end,
    };
  };
  const sessions = [session(true), session(false)].map((each) => ({
    ...each,
    destroy: () => void each.left.push("destroyed"),
  }));
  const commands = lockCommands({
    lock,
    sessions,
    gates: {
      async close(ended) {
        await ended;
        at.closes++;
      },
    },
    print: { notice: (text) => void said.push(text) },
  });
  return { at, lock, sessions, commands, said, left: () => sessions.map(({ left }) => left) };
}

describe("lockCommands()", () => {
  it("lets sessions that are locked begin again once somebody unlocks", async () => {
    const { commands, left, said } = world();
    await commands.unlock("secret words");
    expect(left()).toEqual([["again"], []]);
    expect(said.join()).not.toContain("secret words");
  });

  it("ends every session when the time is over, and closes what they used after them", async () => {
    const { at, commands, sessions, left } = world();
    await commands.unlock("x");
    await commands.expire();
    expect(at.closes).toBe(0);
    at.nowMs = 60_000;
    const over = commands.expire();
    await commands.expire();
    expect(left()).toEqual([["again", "again"], ["again"]]);
    expect(at.closes).toBe(0);
    for (const { end } of sessions) end();
    await over;
    expect(at.closes).toBe(1);
    expect(left()[1]).toEqual(["again", "destroyed"]);
  });

  it("does the same at once when somebody locks, and nothing where nothing is open", async () => {
    const { at, commands, sessions } = world();
    expect(await commands.lock()).toBe(false);
    for (const { end } of sessions) end();
    await commands.unlock("x");
    expect(await commands.lock()).toBe(true);
    expect(await commands.lock()).toBe(false);
    expect(at.closes).toBe(1);
  });
});
