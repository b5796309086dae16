import { chmod, mkdtemp, readFile, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateNoteKey, noteSigner, noteVerifier, openNote } from "@acp/audit";
import { logEvent } from "@acp/core";
import { checkpointKeyPath, initHome, readCheckpointKey } from "@acp/home";
import { describe, expect, it } from "vitest";
import { initCheckpointKey } from "./checkpoint-key.js";
import { keysOf, makeSeam, readKeySeams, rotateCheckpointKey } from "./checkpoint-seams.js";
import { openHomeAudit } from "./open-audit.js";

const [one, two, three, stranger] = Array.from({ length: 4 }, () => generateNoteKey("acp-1"));
if (one === undefined || two === undefined || three === undefined || stranger === undefined)
  throw new Error("unreachable");
const seams = [makeSeam(one.signerKey, two.signerKey), makeSeam(two.signerKey, three.signerKey)];

describe("keysOf()", () => {
  it("follows seams in both directions from any key, and from a stranger's nowhere", () => {
    const all = [one, two, three].map(({ verifierKey }) => verifierKey);
    for (const key of all) expect([...keysOf(key, seams)].sort()).toEqual([...all].sort());
    expect(keysOf(stranger.verifierKey, seams)).toEqual([stranger.verifierKey]);
  });

  it("takes no seam that one of its keys did not sign, or that was changed", () => {
    const good = makeSeam(one.signerKey, stranger.signerKey);
    const lines = good.split("\n");
    const text = good.slice(0, good.indexOf("\n\n") + 1);
    for (const bad of [
      `${lines.slice(0, 5).join("\n")}\n`, // the old key alone
      noteSigner(stranger.signerKey).sign(text), // the new key alone
      good.replace(one.verifierKey, two.verifierKey),
      good.replace("checkpoint-key", "checkpoint-keys"),
      makeSeam(one.signerKey, one.signerKey),
      text,
      "",
    ])
      expect(keysOf(one.verifierKey, [bad])).toEqual([one.verifierKey]);
    expect(keysOf(one.verifierKey, [good])).toEqual([one.verifierKey, stranger.verifierKey]);
  });
});

describe("rotateCheckpointKey()", () => {
  it("keeps the name, and says in a private file what key follows what", async () => {
    const dir = await mkdtemp(join(tmpdir(), "acp-"));
    try {
      const { home } = await initHome(join(dir, "h"));
      await expect(rotateCheckpointKey(home)).rejects.toMatchObject({ code: "home_invalid" });
      await initCheckpointKey(home);
      const before = noteSigner((await readCheckpointKey(home)) ?? "");
      const { from, to } = await rotateCheckpointKey(home);
      const after = noteSigner((await readFile(checkpointKeyPath(home), "utf8")).trim());
      expect([from, to, after.name]).toEqual([before.verifierKey, after.verifierKey, before.name]);
      expect(keysOf(to, await readKeySeams(home))).toEqual([to, from]);
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  it("is taken over by a log that is open, and by no key that is not private or has another name", async () => {
    const dir = await mkdtemp(join(tmpdir(), "acp-"));
    try {
      const { home } = await initHome(join(dir, "h"));
      await initCheckpointKey(home);
      const path = checkpointKeyPath(home);
      await using log = await openHomeAudit(home);
      const signedBy = async (): Promise<string> => {
        await log.append([logEvent("gate_notice", { id: "ae_1", atMs: 1_000 }, {})]);
        const note = await log.checkpoint();
        const keys = keysOf(now, await readKeySeams(home));
        return keys.find((key) => openNote(note, [noteVerifier(key)]).ok) ?? "nobody known";
      };
      let now = noteSigner((await readCheckpointKey(home)) ?? "").verifierKey;
      expect(await signedBy()).toBe(now);
      now = (await rotateCheckpointKey(home)).to;
      expect(await signedBy()).toBe(now);
      await writeFile(path, `${stranger.signerKey}\n`);
      expect(await signedBy()).toBe(now);
      await chmod(path, 0o644);
      await writeFile(path, `${generateNoteKey(now.split("+")[0] ?? "").signerKey}\n`);
      expect(await signedBy()).toBe(now);
      await unlink(path);
      expect(await signedBy()).toBe(now);
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});
