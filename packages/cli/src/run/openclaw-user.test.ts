import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hostNeed } from "@acp/testing";
import { afterAll, describe, expect, it } from "vitest";
import { findOpenClawLocations } from "./openclaw-user.js";

const AGENT = 61_020;
const need = hostNeed("root", () =>
  process.getuid?.() === 0 ? undefined : "files of other users are root's to make",
);
const note = need.run ? "" : ` [${need.reason}]`;
const made: string[] = [];

/** A directory of homes with one that is set up as it should be. */
function makeHomes(): { readonly homes: string; readonly home: string; readonly acp: string } {
  const homes = mkdtempSync(join(tmpdir(), "acp-homes-"));
  made.push(homes);
  chmodSync(homes, 0o755);
  const home = join(homes, "openclaw");
  const acp = join(home, ".acp");
  mkdirSync(home);
  chownSync(home, 0, AGENT);
  chmodSync(home, 0o1770);
  mkdirSync(acp, { mode: 0o700 });
  for (const name of ["config.yml", "policy.yml", "audit.jsonl"])
    writeFileSync(join(acp, name), "", { mode: 0o600 });
  return { homes, home, acp };
}

afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true });
});

describe("findOpenClawLocations()", () => {
  it.runIf(need.run)(`finds what S1 §7.2 names${note}`, async () => {
    const { homes, acp } = makeHomes();
    expect(await findOpenClawLocations("openclaw", homes)).toEqual({
      dir: acp,
      configPath: join(acp, "config.yml"),
      policyPath: join(acp, "policy.yml"),
      auditPath: join(acp, "audit.jsonl"),
    });
  });

  it.runIf(need.run)(`asks for no file that is still to be made${note}`, async () => {
    const { homes, acp } = makeHomes();
    rmSync(join(acp, "audit.jsonl"));
    await expect(findOpenClawLocations("openclaw", homes)).resolves.toHaveProperty("dir", acp);
  });

  it.runIf(need.run).each<[string, (at: ReturnType<typeof makeHomes>) => void, string]>([
    ["a home that is the agent's", ({ home }) => chownSync(home, AGENT, AGENT), "chown root"],
    [
      "a home that its group may write, not sticky",
      ({ home }) => chmodSync(home, 0o770),
      "chmod 1770",
    ],
    [
      "a home that anybody may write, not sticky",
      ({ home }) => chmodSync(home, 0o707),
      "chmod 1770",
    ],
    ["homes that are another user's", ({ homes }) => chownSync(homes, AGENT, AGENT), "chown root"],
    ["homes that others may write", ({ homes }) => chmodSync(homes, 0o777), "chmod go-w"],
    [
      "a directory that is the agent's",
      ({ acp }) => chownSync(acp, AGENT, AGENT),
      "chown -R root:root",
    ],
    ["a directory that others may enter", ({ acp }) => chmodSync(acp, 0o711), "chmod 700"],
    [
      "a policy that is the agent's",
      ({ acp }) => chownSync(join(acp, "policy.yml"), AGENT, 0),
      "chown root:root",
    ],
    [
      "a policy that its group may write",
      ({ acp }) => chmodSync(join(acp, "policy.yml"), 0o620),
      "chmod 600",
    ],
    [
      "a log that anybody may write",
      ({ acp }) => chmodSync(join(acp, "audit.jsonl"), 0o602),
      "chmod 600",
    ],
  ])(`refuses %s, and says how to mend it${note}`, async (_, spoil, fix) => {
    const at = makeHomes();
    spoil(at);
    const refusal = expect.objectContaining({
      code: "home_invalid",
      message: expect.stringContaining(fix),
    });
    await expect(findOpenClawLocations("openclaw", at.homes)).rejects.toEqual(refusal);
  });

  it.runIf(need.run).each<[string, (at: ReturnType<typeof makeHomes>) => string]>([
    ["home", ({ home }) => home],
    ["directory", ({ acp }) => acp],
    ["policy", ({ acp }) => join(acp, "policy.yml")],
  ])(`follows no link in the place of the %s${note}`, async (_, place) => {
    const at = makeHomes();
    const elsewhere = makeHomes();
    rmSync(place(at), { recursive: true });
    symlinkSync(place(elsewhere), place(at));
    await expect(findOpenClawLocations("openclaw", at.homes)).rejects.toMatchObject({
      code: "home_invalid",
    });
  });

  it.runIf(need.run)(`says how to begin where there is nothing${note}`, async () => {
    const { homes, acp } = makeHomes();
    rmSync(acp, { recursive: true });
    const refusal = expect.objectContaining({
      code: "home_invalid",
      message: expect.stringContaining("acp init --home"),
    });
    await expect(findOpenClawLocations("openclaw", homes)).rejects.toEqual(refusal);
  });

  it.each(["", ".", "..", "a/b", "../x", "a\nb", "-x", "a b", `u${"x".repeat(32)}`])(
    "takes %j for no user",
    async (user) => {
      await expect(findOpenClawLocations(user, tmpdir())).rejects.toMatchObject({
        code: "options_invalid",
      });
    },
  );
});
