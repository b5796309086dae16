import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { agent, allowAll, last, makeKit, type Kit } from "../../test/gate-kit.js";
import { parsePolicy } from "../policy.js";
import { createVault, Secret } from "../vault.js";
import { type Release, type RunResult, toolAction } from "../index.js";

const ask = toolAction("files", "read_file", { path: "a.txt" });

async function* chunks(...list: readonly unknown[]): AsyncGenerator<unknown, string> {
  for (const each of list) yield await Promise.resolve(each);
  return "end";
}

/** Performs and gives the value; whether the log says completed is left to the test. */
async function run<T>(
  { gate }: Kit,
  perform: (release: Release) => T,
): Promise<Extract<RunResult<T>, { ran: true }>> {
  const result = await gate.run(ask, (release) => Promise.resolve(perform(release)), { agent });
  if (!result.ran) throw new Error(result.verdict.code);
  return result;
}

const outcomeOf = ({ sink }: Kit): unknown => last(sink.events).metadata["outcome"];

describe("a perform whose value is a stream", () => {
  it("is completed when the stream is, and not before", async () => {
    const kit = makeKit({ policy: allowAll });
    const effects: unknown[] = [];
    const { value, recorded, ended } = await run(kit, async function* () {
      effects.push(await Promise.resolve("begun"));
      yield 1;
      effects.push("done");
    });
    expect({ recorded, effects, types: kit.types().slice(2) }).toEqual({
      recorded: false,
      effects: [],
      types: ["tool_call_forwarded"],
    });
    for await (const chunk of value) {
      expect(chunk).toBe(1);
      expect(kit.types()).not.toContain("tool_call_completed");
    }
    expect(effects).toEqual(["begun", "done"]);
    expect(await ended).toBe(true);
    expect(outcomeOf(kit)).toBe("performed");
  });

  it("passes on what is sent in, and what a generator returns", async () => {
    const kit = makeKit({ policy: allowAll });
    const { value } = await run(kit, async function* (): AsyncGenerator<string, string, string> {
      const name = yield await Promise.resolve("who?");
      return `hello ${name}`;
    });
    expect(await value.next("")).toEqual({ done: false, value: "who?" });
    expect(await value.next("ada")).toEqual({ done: true, value: "hello ada" });
    expect(await value.next("bob")).toEqual({ done: true, value: "hello ada" });
  });

  it("fails with the stream", async () => {
    const kit = makeKit({ policy: allowAll });
    const { value } = await run(kit, async function* () {
      yield await Promise.resolve(1);
      throw new RangeError("token abc");
    });
    await value.next();
    await expect(value.next()).rejects.toThrow("token abc");
    expect(last(kit.sink.events).metadata).toMatchObject({
      outcome: "failed",
      error: "RangeError",
      forwarded_seq: 2,
    });
    expect(JSON.stringify(kit.sink.events)).not.toContain("token abc");
  });

  it.each(["before its first chunk", "after it"])(
    "is cancelled where its reader leaves %s, and the source is closed",
    async (when) => {
      const kit = makeKit({ policy: allowAll });
      const source = chunks(1, 2);
      const { value } = await run(kit, () => source);
      if (when === "after it") for await (const _ of value) break;
      else await value.return("");
      expect(outcomeOf(kit)).toBe("cancelled");
      expect(await source.next()).toEqual({ done: true, value: undefined });
      expect(kit.types().filter((type) => type === "tool_call_completed")).toHaveLength(1);
    },
  );

  it("follows a web stream to its end, its error and its cancelling", async () => {
    const streamOf = (end: "close" | "error"): ReadableStream<string> => {
      let next = 0;
      return new ReadableStream({
        pull(controller) {
          if (next++ === 0) controller.enqueue("a");
          else if (end === "close") controller.close();
          else controller.error(new RangeError("broken"));
        },
      });
    };
    const read = async (stream: ReadableStream<string>): Promise<readonly string[]> => {
      const list: string[] = [];
      for await (const chunk of stream) list.push(chunk);
      return list;
    };
    const kit = makeKit({ policy: allowAll });
    const whole = await run(kit, () => streamOf("close"));
    expect(kit.types()).not.toContain("tool_call_completed");
    expect(await read(whole.value)).toEqual(["a"]);
    expect(outcomeOf(kit)).toBe("performed");
    const broken = await run(kit, () => streamOf("error"));
    await expect(read(broken.value)).rejects.toThrow("broken");
    expect(outcomeOf(kit)).toBe("failed");
    const left = await run(kit, () => streamOf("close"));
    await left.value.cancel();
    expect(outcomeOf(kit)).toBe("cancelled");
  });

  it("watches a stream of Node's, however it is read", async () => {
    const kit = makeKit({ policy: allowAll });
    const { value, ended } = await run(kit, () => Readable.from(["a", "b"]));
    expect(kit.types()).not.toContain("tool_call_completed");
    value.resume();
    expect(await ended).toBe(true);
    expect(outcomeOf(kit)).toBe("performed");
    const cut = await run(kit, () => Readable.from(["a", "b"]));
    cut.value.destroy();
    await cut.ended;
    expect(outcomeOf(kit)).toBe("cancelled");
    const broken = await run(kit, () => Readable.from(chunks("a")));
    broken.value.on("error", () => undefined).destroy(new RangeError("broken"));
    await broken.ended;
    expect(outcomeOf(kit)).toBe("failed");
  });

  it("follows what can be iterated and leaves it its other members", async () => {
    class Answer {
      readonly #text = "the answer";
      describe(): string {
        return this.#text;
      }
      [Symbol.asyncIterator](): AsyncIterator<unknown> {
        return chunks(1);
      }
    }
    const kit = makeKit({ policy: allowAll });
    const { value } = await run(kit, () => new Answer());
    expect(value.describe()).toBe("the answer");
    expect(value).toBeInstanceOf(Answer);
    for await (const chunk of value) expect(chunk).toBe(1);
    expect(outcomeOf(kit)).toBe("performed");
  });

  it("follows a generator that is not asynchronous", async () => {
    const kit = makeKit({ policy: allowAll });
    const { value, ended } = await run(kit, function* () {
      yield 1;
    });
    expect(kit.types()).not.toContain("tool_call_completed");
    expect([...value]).toEqual([1]);
    await ended;
    expect(outcomeOf(kit)).toBe("performed");
  });

  it.each([[[1, 2]], [new Map([[1, 2]])], ["text"], [new Set([1])], [null]])(
    "takes %j for a value",
    async (value) => {
      const kit = makeKit({ policy: allowAll });
      expect(await run(kit, () => value)).toMatchObject({ value, recorded: true });
      expect(outcomeOf(kit)).toBe("performed");
    },
  );
});

describe("a stream of a vault's gate", () => {
  const secret = new Secret({ name: "TOKEN", value: "s3cret-värde-\u{1f511}", servers: ["files"] });
  const policy = parsePolicy({
    version: "1",
    rules: [{ match: { tool: "*" }, action: "allow", secrets: ["TOKEN"] }],
  });
  const [head, tail] = ["say s3cret-v", "ärde-\u{1f511} now"];
  const cutCharacter = (text: string): readonly string[] =>
    [...text].flatMap((each) => (each.length > 1 ? each.split("") : [each]));

  it.each<readonly [string, readonly unknown[], unknown]>([
    ["text", [head, tail], "say [secret TOKEN] now"],
    ["text of single units", cutCharacter(head + tail), "say [secret TOKEN] now"],
    ["bytes", [Buffer.from(head), Buffer.from(tail)], Buffer.from("say [secret TOKEN] now")],
  ])("finds a value in %s wherever the chunks end", async (_, list, want) => {
    const kit = makeKit({ policy, vault: createVault([secret]) });
    const { value } = await run(kit, () => chunks(...list));
    const seen: unknown[] = [];
    for await (const chunk of value) seen.push(chunk);
    const joined = seen.every((each) => typeof each === "string")
      ? seen.join("")
      : Buffer.concat(seen as Buffer[]);
    expect(joined).toEqual(want);
    expect(seen.every((each) => typeof each === "string" || Buffer.isBuffer(each))).toBe(true);
  });

  it("masks data chunk by chunk, what is returned and what is thrown", async () => {
    const kit = makeKit({ policy, vault: createVault([secret]) });
    const { value } = await run(kit, async function* () {
      yield await Promise.resolve({ text: head + tail });
      return head + tail;
    });
    expect(await value.next()).toEqual({ done: false, value: { text: "say [secret TOKEN] now" } });
    expect(await value.next()).toEqual({ done: true, value: "say [secret TOKEN] now" });
    const failing = await run(kit, async function* () {
      yield await Promise.resolve(1);
      throw new Error(head + tail);
    });
    await failing.value.next();
    await expect(failing.value.next()).rejects.toThrow("say [secret TOKEN] now");
  });

  it("leaves nothing but the masked chunks of what can be iterated", async () => {
    const kit = makeKit({ policy, vault: createVault([secret]) });
    const { value } = await run(kit, () => ({
      raw: secret,
      [Symbol.asyncIterator]: () => chunks(head + tail),
    }));
    expect(value.raw).toBeUndefined();
    for await (const chunk of value) expect(chunk).not.toContain("s3cret");
  });
});
