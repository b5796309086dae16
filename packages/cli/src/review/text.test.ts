import { createHash } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileState, ReviewChange, ReviewSnapshot } from "@acp/sandbox-linux";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { diffOf } from "./diff-text.js";
import { summaryOf } from "./text.js";

let work: string;
beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), "acp-text-")));
});
afterEach(() => rmSync(work, { recursive: true }));

const file = (bytes: Uint8Array, mode = 0o644): FileState => ({
  kind: "file",
  mode,
  size: bytes.length,
  sha256: createHash("sha256").update(bytes).digest("hex"),
});

/** One file that became another. */
function snapshot(
  before: Uint8Array | null,
  after: Uint8Array,
  more: Partial<ReviewSnapshot["listing"]> & { readonly mode?: number } = {},
): ReviewSnapshot {
  const { mode, ...listing } = more;
  if (before !== null) writeFileSync(join(work, "a"), before);
  writeFileSync(join(work, "content"), after);
  const change: ReviewChange = {
    path: "a",
    before: before === null ? null : file(before),
    after: file(after, mode),
    at: 0,
    apart: null,
    isChangedHere: false,
  };
  const workspace = { path: work, device: "0", inode: "0" };
  return {
    directory: work,
    digest: "0".repeat(64),
    listing: { format: 1, workspace, changes: [change], refused: [], isComplete: true, ...listing },
  };
}

const REVIEW = {
  id: "0123456789ab",
  directory: "/r",
  workspace: "/w",
  agent: "agent",
  startedMs: 0,
};

describe("diffOf()", () => {
  it("shows no bytes that are not UTF-8: all of them would look alike", () => {
    const lines = diffOf(
      snapshot(Buffer.from([0x61, 0xfe, 0x0a]), Buffer.from([0x61, 0xff, 0x9b, 0x0a])),
      [],
    );
    expect(lines).toEqual([
      "M a",
      expect.stringMatching(/^ {2}not shown: 3 bytes \(sha256 [0-9a-f]{16}…\) becomes 4 bytes/u),
    ]);
  });

  it("escapes what would move a cursor or hide", () => {
    const lines = diffOf(snapshot(null, Buffer.from("\u001b[2Jx\u009b1A\u202e\ty\r\n")), []);
    expect(lines.at(-1)).toBe("+\\u001b[2Jx\\u009b1A\\u202e\ty\\u000d");
  });
});

describe("summaryOf()", () => {
  it("says what a review can hold where there is more, and what to do", () => {
    expect(summaryOf(REVIEW, snapshot(null, Buffer.from("x")), false).join("\n")).not.toContain(
      "never taken",
    );
    const text = summaryOf(
      REVIEW,
      snapshot(null, Buffer.from("x"), { isComplete: false }),
      false,
    ).join("\n");
    expect(text).toContain(
      "(400000 names, 8 GiB of content, a list of 240 MiB); the rest is never taken. Take what you see and drop what is left",
    );
  });

  it("says that everybody may write a new file", () => {
    expect(summaryOf(REVIEW, snapshot(null, Buffer.from("x"), { mode: 0o666 }), false)).toContain(
      "  A a (mode 666: everybody may write it)",
    );
  });
});
