import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { makeEvent } from "../test/support.js";
import { factsOf } from "./event-facts.js";
import { createGroupCommit, type Fill, type GroupCommit } from "./group-commit.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const LATER = { mayWait: true };
const fillWith =
  (text: string): Fill =>
  ({ lines }, head) => {
    lines.addEvent({ before: `{"a":"${text}"`, after: "}" });
    return { seq: (head?.seq ?? -1) + 1, hash: text };
  };

/** A log, and the lines of each of its writes. */
function opened(): { readonly commit: GroupCommit; readonly writes: string[][] } {
  const writes: string[][] = [];
  const store = {
    append({ bytes }: { readonly bytes: Buffer }): Promise<void> {
      const lines = bytes.toString("utf8").trimEnd().split("\n");
      const names = lines.map((line) => line.slice(6, line.indexOf('"', 6)));
      writes.push(names);
      return names.includes("bad")
        ? Promise.reject(new Error("the disk is full"))
        : Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  return { commit: createGroupCommit(store, "log", undefined), writes };
}

it("write() writes what may wait with the next that may not, in the order of the calls", async () => {
  const { commit, writes } = opened();
  const first = commit.write(fillWith("later"), LATER);
  const second = commit.write(fillWith("also"), LATER);
  await vi.advanceTimersByTimeAsync(4);
  expect(writes).toEqual([]);
  expect(await commit.write(fillWith("now"))).toMatchObject({ seq: 2 });
  expect(await Promise.all([first, second])).toMatchObject([{ seq: 0 }, { seq: 1 }]);
  expect(writes).toEqual([["later", "also", "now"]]);
  await vi.advanceTimersByTimeAsync(100);
  expect(writes).toHaveLength(1);
});

it("write() writes what may wait within 5 ms, whatever comes", async () => {
  const { commit, writes } = opened();
  for (let n = 0; n < 3; n++) {
    const written = commit.write(fillWith(`${n}`), LATER);
    await vi.advanceTimersByTimeAsync(2);
    const other = commit.write(fillWith("more"), LATER);
    await vi.advanceTimersByTimeAsync(3);
    await Promise.all([written, other]);
    expect(writes.at(-1)).toEqual([`${n}`, "more"]);
  }
  expect(writes).toHaveLength(3);
});

it("write() lets nothing wait that may not", async () => {
  const { commit, writes } = opened();
  await commit.write(fillWith("a"));
  await commit.write(fillWith("b"), {});
  await commit.write(fillWith("c"), { mayWait: false });
  expect(writes).toEqual([["a"], ["b"], ["c"]]);
});

it("close() writes what waits, and a write that fails refuses it", async () => {
  const { commit, writes } = opened();
  const waiting = commit.write(fillWith("later"), LATER);
  await commit.close();
  await waiting;
  expect(writes).toEqual([["later"]]);
  await expect(commit.write(fillWith("x"), LATER)).rejects.toThrow("it is closed");
  const broken = opened().commit;
  const refused = [broken.write(fillWith("bad"), LATER), broken.write(fillWith("now"))];
  expect(await Promise.allSettled(refused)).toMatchObject([
    { status: "rejected" },
    { status: "rejected" },
  ]);
  await expect(broken.write(fillWith("x"), LATER)).rejects.toThrow("the disk is full");
});

it("write() hands out the facts of the lines that it writes, and none of a call that failed", async () => {
  const written: (readonly string[])[] = [];
  const commit = createGroupCommit(
    {
      append: ({ facts = [] }) => (written.push(facts.map(({ id }) => id)), Promise.resolve()),
      close: () => Promise.resolve(),
    },
    "log",
    undefined,
  );
  const fill =
    (id: string): Fill =>
    (group, head) => {
      const receipt = fillWith(id)(group, head);
      group.facts.push(factsOf(makeEvent(0, { id }), receipt));
      if (id === "broken") throw new Error(id);
      return receipt;
    };
  const all = ["a", "broken", "b"].map((id) => commit.write(fill(id)));
  await expect(all[1]).rejects.toThrow("broken");
  await Promise.all([all[0], all[2]]);
  expect(written).toEqual([["a", "b"]]);
});
