/** allow-always: what is kept, what never is, and what the person hears. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readPolicy } from "@acp/core/yaml";
import { describe, expect, it } from "vitest";
import { type ExecProfile, openExecProfile } from "../src/profile-config.js";
import {
  AGENT,
  DANGEROUS,
  type Desk,
  type DeskOptions,
  LAPTOP,
  openDesk,
  scratchDirectory,
} from "./desk.js";

interface ProfileDesk extends Desk {
  readonly profile: ExecProfile;
  readonly file: string;
}

async function openProfileDesk(written?: unknown, more: DeskOptions = {}): Promise<ProfileDesk> {
  const home = await scratchDirectory();
  const file = join(home, "agent-profiles", "coder", "config.json");
  if (written !== undefined) {
    await mkdir(join(home, "agent-profiles", "coder"), { recursive: true, mode: 0o700 });
    await writeFile(file, JSON.stringify(written), { mode: 0o600 });
  }
  const profile = openExecProfile({ home, profileId: "coder" });
  return { ...(await openDesk({ ...more, config: profile })), profile, file };
}

const stored = ({ profile }: ProfileDesk): readonly string[] =>
  profile.read().allowlist.entries.map(({ pattern }) => pattern);

describe("allow-always", () => {
  it("allow-always allows this command and keeps its program, at once and for the next hub", async () => {
    const desk = await openProfileDesk();
    const verdict = desk.hub.onApprovalNeeded("touch a.txt", AGENT);
    expect(await desk.answer("allow-always")).toEqual({
      ok: true,
      payload: { ok: true, stored: "touch **" },
    });
    expect((await verdict).decision).toBe("allow");
    expect(JSON.parse(await readFile(desk.file, "utf8"))).toEqual({
      execApproval: { allowlist: [{ pattern: "touch **" }] },
    });
    expect((await desk.hub.onApprovalNeeded("touch b.txt", AGENT)).decision).toBe("allow");
    expect(desk.sent.length).toBe(1);
    const next = await openDesk({ config: desk.profile });
    expect((await next.hub.onApprovalNeeded("touch c.txt", AGENT)).decision).toBe("allow");
    expect(next.sent).toEqual([]);
  });

  it("allow-always is kept when the command goes on: the next one is not asked about", async () => {
    const desk = await openProfileDesk();
    const next = desk.hub
      .onApprovalNeeded("touch a.txt", AGENT)
      .then(() => desk.hub.onApprovalNeeded("touch b.txt", AGENT));
    await desk.answer("allow-always");
    expect((await next).decision).toBe("allow");
    expect(desk.sent.length).toBe(1);
  });

  it("allow-always stands in the log before it stands in the file", async () => {
    const desk = await openProfileDesk();
    const verdict = desk.hub.onApprovalNeeded("touch a.txt", AGENT);
    await desk.answer("allow-always");
    await verdict;
    const notice = desk.audit.events().find(({ eventType }) => eventType === "gate_notice");
    expect(notice).toMatchObject({
      agent: "agent-1",
      metadata: {
        notice: "exec_allowlist",
        pattern: "touch **",
        by: "device-phone",
        text: expect.stringContaining("coder"),
      },
    });
    expect(notice?.metadata["from_request"]).toBe(`cr_${desk.sent[0]?.approvalId}`);
  });

  it("allow-always keeps nothing where the log fails, and nothing is allowed either", async () => {
    const desk = await openProfileDesk();
    const verdict = desk.hub.onApprovalNeeded("touch a.txt", AGENT);
    await desk.request();
    desk.audit.fail(new Error("the disk is full"));
    expect((await desk.answer("allow-always")).ok).toBe(false);
    expect((await verdict).decision).toBe("deny");
    expect(stored(desk)).toEqual([]);
  });

  it("allow-always clears nothing dangerous, and says so", async () => {
    const desk = await openProfileDesk();
    const verdict = desk.hub.onApprovalNeeded(DANGEROUS, AGENT);
    const reply = await desk.answer("allow-always");
    expect(reply).toMatchObject({
      ok: true,
      payload: {
        stored: "rm **",
        note: expect.stringMatching(/^you will still be asked about this command: /),
      },
    });
    expect((await verdict).decision).toBe("allow");
    const again = desk.hub.onApprovalNeeded(DANGEROUS, AGENT);
    await desk.answer("deny", 1);
    expect((await again).decision).toBe("deny");
  });

  it.each([
    ["bash script.sh", "bash is a shell"],
    ["python3 script.py", "python3 runs any program"],
    ["node script.js", "node runs any program"],
    ["sudo id", "sudo runs any other program"],
    ["env A=1 make", "env runs any other program"],
    ["xargs rm", "xargs runs any other program"],
    ["busybox sh", "busybox is many programs"],
    ["docker start x", "docker is many programs"],
    ["./build.sh", "given by a path"],
    ["$TOOL x", "which program the command runs is not known"],
    ["touch a && mkdir b", "the command runs several programs"],
  ])("allow-always keeps nothing of `%s`: %s", async (command, why) => {
    const desk = await openProfileDesk();
    const verdict = desk.hub.onApprovalNeeded(command, AGENT);
    const reply = await desk.answer("allow-always");
    expect(reply).toMatchObject({
      ok: true,
      payload: { ok: true, note: expect.stringContaining(why) },
    });
    expect(reply).toMatchObject({
      payload: { note: expect.stringMatching(/^nothing was stored: /) },
    });
    expect((await verdict).decision).toBe("allow");
    expect(stored(desk)).toEqual([]);
  });

  it("allow-always keeps the program that was asked about, not those beside it", async () => {
    const desk = await openProfileDesk();
    const verdict = desk.hub.onApprovalNeeded("git status && touch a && touch b", AGENT);
    expect(await desk.answer("allow-always")).toMatchObject({ payload: { stored: "touch **" } });
    await verdict;
    expect(stored(desk)).toEqual(["touch **"]);
  });

  it("allow-always of a refused device keeps nothing", async () => {
    const desk = await openProfileDesk();
    const verdict = desk.hub.onApprovalNeeded("touch a.txt", AGENT);
    expect((await desk.answer("allow-always", 0, "device-stranger")).ok).toBe(false);
    await desk.answer("deny");
    await verdict;
    expect(stored(desk)).toEqual([]);
  });

  it("allow-always says where there is no profile", async () => {
    const desk = await openDesk();
    const verdict = desk.hub.onApprovalNeeded("touch a.txt", AGENT);
    expect(await desk.answer("allow-always")).toEqual({
      ok: true,
      payload: { ok: true, note: "nothing was stored: this hub has no profile to store it in" },
    });
    expect((await verdict).decision).toBe("allow");
  });

  it("allow-always says that the profile asks about everything all the same", async () => {
    const desk = await openProfileDesk({ execApproval: { ask: "always" } });
    const verdict = desk.hub.onApprovalNeeded("touch a.txt", AGENT);
    expect(await desk.answer("allow-always")).toEqual({
      ok: true,
      payload: {
        ok: true,
        stored: "touch **",
        note: 'you will still be asked about this command: the profile says "ask": "always"',
      },
    });
    await verdict;
  });

  it("allow-always says that a rule of the operator asks all the same", async () => {
    const policy = readPolicy(`
version: "1"
default_action: allow
rules:
  - { name: touch is asked, match: { kind: shell, name: touch }, action: ask, level: high }
`);
    const desk = await openProfileDesk(undefined, { policy });
    const verdict = desk.hub.onApprovalNeeded("touch a.txt", AGENT);
    const { riskReasons } = await desk.request();
    const reply = await desk.answer("allow-always");
    expect(riskReasons.at(-1)).toBe('the rule "touch is asked" wants a person\'s consent');
    expect(reply).toMatchObject({
      payload: {
        stored: "touch **",
        note: 'you will still be asked about this command: the rule "touch is asked" wants a person\'s consent',
      },
    });
    await verdict;
  });

  it("allow-always says what was stored also where the profile cannot be read afterwards", async () => {
    const desk = await openProfileDesk();
    let isStored = false;
    const profile: ExecProfile = {
      ...desk.profile,
      read: () => {
        if (isStored) throw new Error("the disk is gone");
        return desk.profile.read();
      },
      allow: async (pattern) => {
        await desk.profile.allow(pattern);
        isStored = true;
      },
    };
    const other = await openDesk({ config: profile });
    const verdict = other.hub.onApprovalNeeded("touch a.txt", AGENT);
    expect(await other.answer("allow-always")).toEqual({
      ok: true,
      payload: {
        ok: true,
        stored: "touch **",
        note: "it is unknown whether you will be asked about this command: the disk is gone",
      },
    });
    await verdict;
    expect(stored(desk)).toEqual(["touch **"]);
  });

  it("allow-always of two people at once is stored before the command goes on", async () => {
    const desk = await openProfileDesk();
    let store = (): void => undefined;
    const held = new Promise<void>((resolve) => (store = resolve));
    const profile: ExecProfile = {
      ...desk.profile,
      allow: (pattern) => held.then(() => desk.profile.allow(pattern)),
    };
    const other = await openDesk({ config: profile });
    let isOver = false;
    const verdict = other.hub.onApprovalNeeded("touch a.txt", AGENT).finally(() => (isOver = true));
    await other.request();
    const [first, second] = [other.answer("allow-always"), other.answer("allow-always", 0, LAPTOP)];
    expect(await second).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    store();
    expect(await first).toMatchObject({ ok: true, payload: { stored: "touch **" } });
    expect((await verdict).decision).toBe("allow");
  });

  it("a profile that does not load allows nothing", async () => {
    const desk = await openProfileDesk({ execApproval: { security: "all" } });
    expect(await desk.hub.onApprovalNeeded("ls", AGENT)).toMatchObject({
      decision: "deny",
      code: "layer_failed",
    });
  });
});
