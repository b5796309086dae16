import type { Masker, Release } from "@acp/core";
import { createMasker, Secret } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { createLineSplitter } from "./framing.js";
import { createMasks, type MaskedStream, type Masks } from "./masks.js";

const maskerOf = (name: string, value: string) => (): Masker =>
  createMasker([new Secret({ name, value })]);
const release = (masker: () => Masker | undefined): Release => ({ masker }) as unknown as Release;
const line = (masks: Masks, text: string): string | undefined =>
  masks.line(Buffer.from(text), () => false)?.toString();

function stream(masks: Masks): { readonly lines: string[]; readonly splitter: MaskedStream } {
  const lines: string[] = [];
  return {
    lines,
    splitter: masks.stream(
      createLineSplitter({ onLine: (each) => lines.push(each.toString()), onOversize: () => {} }),
    ),
  };
}

describe("createMasks()", () => {
  it("changes nothing before a secret is known", () => {
    const masks = createMasks();
    const { lines, splitter } = stream(masks);
    masks.learn(release(() => undefined));
    expect(line(masks, '"value-one"\n')).toBe('"value-one"\n');
    splitter.push(Buffer.from("value-one\n"));
    expect(lines).toEqual(["value-one\n"]);
  });

  it("masks what is known from the start, then what the latest release knows", () => {
    const masks = createMasks(maskerOf("ONE", "value-one"));
    expect(line(masks, '"value-one value-two"\n')).toBe('"[secret ONE] value-two"\n');
    masks.learn(release(maskerOf("TWO", "value-two")));
    expect(line(masks, '"value-one value-two"\n')).toBe('"value-one [secret TWO]"\n');
  });

  it("goes on masking when a vault knows nothing any more", () => {
    const masks = createMasks(maskerOf("ONE", "value-one"));
    masks.learn(release(() => undefined));
    expect(line(masks, '"value-one"\n')).toBe('"[secret ONE]"\n');
  });

  it("masks an answer once more where a later release knows other secrets than its own", () => {
    const masks = createMasks();
    const [first, second] = [
      release(maskerOf("ONE", "value-one")),
      release(maskerOf("TWO", "value-two")),
    ];
    masks.learn(first);
    const answer = Buffer.from('{"id":1,"result":"value-one"}\n');
    expect(masks.answer(answer, first)).toBe(answer);
    masks.learn(second);
    expect(masks.answer(answer, first)?.toString()).toBe('{"id":1,"result":"[secret ONE]"}\n');
    expect(
      masks.answer(
        answer,
        release(() => undefined),
      ),
    ).toBe(answer);
  });

  it("masks a stream over lines and chunks, also over a release in between", () => {
    const masks = createMasks();
    const { lines, splitter } = stream(masks);
    masks.learn(release(maskerOf("KEY", "BEGIN\nabcdef\nEND")));
    splitter.push(Buffer.from("a key: BEGIN\nab"));
    expect(lines).toEqual([]);
    masks.learn(release(maskerOf("KEY", "BEGIN\nabcdef\nEND")));
    splitter.push(Buffer.from("cdef\nEN"));
    splitter.push(Buffer.from("D.\nBEGIN\nnothing\nBEG"));
    expect(lines).toEqual(["a key: [secret KEY].\n", "BEGIN\n", "nothing\n"]);
    splitter.end();
    expect(lines.slice(3)).toEqual(["BEG\n"]);
  });

  it("lets a complete line out after a silence, unless a value of several lines is under way", () => {
    const masks = createMasks(maskerOf("KEY", "BEGIN\nabcdef\nEND"));
    const { lines, splitter } = stream(masks);
    splitter.push(Buffer.from("the end: B\n"));
    expect(lines).toEqual([]);
    splitter.settle();
    expect(lines).toEqual(["the end: B\n"]);
    splitter.push(Buffer.from("BEGIN\nabcdef\n"));
    splitter.settle();
    expect(lines.slice(1)).toEqual([]);
    splitter.push(Buffer.from("END\n"));
    splitter.settle();
    expect(lines.slice(1)).toEqual(["[secret KEY]\n"]);
  });
});
