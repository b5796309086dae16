/**
 * Backups: what is written is a consistent home, what is changed or hostile is refused before
 * anything is touched, and a restore shows what would count again.
 */
import {
  appendFile,
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { verifyAuditLog, readAuditLog } from "@acp/audit";
import { logEvent } from "@acp/core";
import type { Grant } from "@acp/core";
import { filePasskeys, fileGrants, openHome } from "@acp/home";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { writeBackup } from "../src/backup/write-backup.js";
import { readAuditConfig } from "../src/logs/log-settings.js";
import { seamsOf } from "../src/logs/log-seams.js";
import { openHomeAudit } from "../src/logs/open-audit.js";
import { eventsIn, folder, say, textsOf, UNLOCK, world } from "./backup-world.js";
import { ioOf, removeTemplate } from "./doctor-world.js";
import { SAMPLE_MS } from "./sample-event.js";

afterAll(removeTemplate);

const grant = (id: string): Grant => ({
  id,
  agentId: "demo",
  scope: { kind: "tool", server: "files", name: "write_file" },
  createdAtMs: Date.now(),
  expiresAtMs: Date.now() + 3_600_000,
  requestId: "cr_1",
  approverIds: ["ada"],
  evidence: "any",
  secrets: [],
});

const directoryWitness = async (): Promise<string> => `{ directory: ${await folder()} }`;

/** One that gives the newest checkpoint of a log back, by its origin. */
async function urlWitness(): Promise<string> {
  const newest = new Map<string, string>();
  const server = createHttpServer((request, response) => {
    const origin = new URL(request.url ?? "", "http://x").searchParams.get("origin") ?? "";
    const note = newest.get(origin);
    if (request.method === "GET")
      return void response.writeHead(note === undefined ? 404 : 200).end(note);
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      newest.set(text.split("\n", 1)[0] ?? "", text);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `{ url: "http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/" }`;
}

describe("acp backup and acp restore", () => {
  it("bring a home back with every byte, and the log says so", async () => {
    const { dir, file, acp, home, log } = await world();
    const before = await textsOf(dir);
    const count = await eventsIn(dir);
    expect(await acp("backup", file)).toMatchObject({ code: 0, stderr: "" });
    expect((await lstat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "latin1")).not.toContain("gate_notice");
    await writeFile(home.policyPath, "version: '1'\n");
    const { code, stdout } = await acp("restore", file, "--yes", "--json");
    const { replaced, came_back: back, ...result } = JSON.parse(stdout) as Record<string, string>;
    expect([code, result]).toMatchObject([0, { is_restored: true, is_compared: true }]);
    expect(back).toMatchObject([{ kind: "policy" }]);
    const {
      "audit.jsonl": logNow,
      "audit.jsonl.checkpoints": notesNow,
      "audit.jsonl.index": _index,
      "audit.jsonl.lookup": _lookup,
      ...after
    } = await textsOf(dir);
    const {
      "audit.jsonl": logThen,
      "audit.jsonl.checkpoints": notesThen,
      "audit.jsonl.index": _was,
      "audit.jsonl.lookup": _wasLookup,
      ...rest
    } = before;
    expect(after).toEqual(rest);
    expect(notesNow?.startsWith(notesThen ?? "?")).toBe(true);
    expect(logNow?.startsWith(logThen ?? "?")).toBe(true);
    expect(await eventsIn(dir)).toBe(count + 1);
    const events = [];
    for await (const { eventType, metadata } of readAuditLog(log))
      events.push({ eventType, ...metadata });
    expect(events.at(-1)).toMatchObject({
      eventType: "home_restored",
      came_back: [{ kind: "policy" }],
      replaced,
    });
    expect(await readFile(join(replaced ?? "", "policy.yml"), "utf8")).toBe("version: '1'\n");
    await openHome(dir);
  });

  it("give a home that the doctor finds nothing wrong with, also without logs", async () => {
    const { dir, file, acp } = await world();
    await acp("backup", file, "--without-logs");
    await rm(dir, { recursive: true });
    expect(await acp("restore", file, "--yes")).toMatchObject({ code: 0 });
    expect((await readdir(dir)).filter((name) => name.startsWith("audit"))).toContain(
      "audit.jsonl",
    );
    const { stdout } = await say(["doctor", "--quick", "--json", "--home", dir]);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
    expect((await verifyAuditLog(join(dir, "audit.jsonl"))).events).toBe(1);
  });

  it.each([
    { how: "with its logs", makeWitness: directoryWitness, more: [] },
    { how: "without logs", makeWitness: directoryWitness, more: ["--without-logs"] },
    { how: "with its logs, at a URL,", makeWitness: urlWitness, more: [] },
  ])(
    "bring a home back $how whose witness knows of later events, as often as one likes",
    async ({ makeWitness, more }) => {
      const { dir, file, acp, home, log } = await world();
      await writeFile(
        home.configPath,
        `version: "1"\naudit: { witnesses: [${await makeWitness()}] }\n`,
        { mode: 0o600 },
      );
      const later = async (): Promise<void> => {
        await using audit = await openHomeAudit(home, {
          config: await readAuditConfig({ home, io: ioOf() }),
        });
        await audit.append([logEvent("gate_notice", { id: "ae_later", atMs: 1 }, { text: "x" })]);
      };
      await later();
      await acp("backup", file);
      for (const seams of [1, 2]) {
        await later();
        const { code, stderr } = await acp("restore", file, "--yes", ...more);
        expect([code, stderr]).toEqual([0, expect.any(String)]);
        expect(await seamsOf(log)).toBeGreaterThanOrEqual(seams);
        expect((await say(["audit", "verify", "--home", dir])).code).toBe(0);
        const types = [];
        for await (const { eventType } of readAuditLog(log)) types.push(eventType);
        expect(types[0]).toBe("log_quarantined");
        expect(types).toContain("home_restored");
      }
      const { stdout } = await say(["doctor", "--json", "--home", dir]);
      expect(JSON.parse(stdout)).toMatchObject({ ok: true });
    },
  );

  it("do not set aside a log that is broken: a person has to see that", async () => {
    const { dir, file, acp, log } = await world();
    const text = await readFile(log, "utf8");
    await acp("backup", file);
    await writeFile(log, text.replace("{", "!"));
    await rm(file);
    await acp("backup", file);
    const before = await textsOf(dir);
    const { code, stderr } = await acp("restore", file, "--yes");
    expect([code, stderr]).toEqual([4, expect.stringContaining("--without-logs")]);
    expect(await textsOf(dir)).toEqual(before);
  });

  it("leave out sockets, open questions, caches and links, and say which links", async () => {
    const { dir, file, acp } = await world();
    for (const name of [
      "run",
      "pending",
      "homes/a",
      "reviews/r",
      "servers/s/home",
      "servers/s/packages/tree-1",
    ]) {
      await mkdir(join(dir, name), { recursive: true, mode: 0o700 });
      await writeFile(join(dir, name, "x"), "x");
    }
    await writeFile(join(dir, ".grants.json.1.ab.tmp"), "x");
    await symlink("/etc/passwd", join(dir, "link"));
    expect((await acp("backup", file)).stderr).toContain("link is a link or no plain file");
    await acp("restore", file, "--yes");
    const names = Object.keys(await textsOf(dir));
    expect(names).toContain("keys/private.key");
    expect(names.filter((name) => /(^|\/)(x|link|\..*)$/.test(name))).toEqual([]);
  });

  it("cut a log at its last whole line, and keep its checkpoints behind it", async () => {
    const { dir, file, acp, log } = await world();
    const count = await eventsIn(dir);
    await appendFile(log, '{"agent":"half');
    await acp("backup", file);
    await rm(dir, { recursive: true });
    await acp("restore", file, "--yes");
    expect(await verifyAuditLog(log)).toMatchObject({ ok: true, events: count + 1 });
  });

  it("give a log that verifies with its checkpoints while a gate writes and rotates", async () => {
    const { dir, home, acp } = await world();
    const at = await folder();
    let isOver = false;
    const config = { rotateBytes: 700, checkpointEvents: 2, checkpointMs: 1, witnesses: [] };
    const writing = (async () => {
      await using audit = await openHomeAudit(home, { config: config as never });
      for (let number = 0; !isOver; number++)
        await audit.append([
          logEvent(
            "gate_notice",
            { id: `ae_w${number}`, atMs: SAMPLE_MS },
            { notice: "sample", text: "x".repeat(200) },
          ),
        ]);
    })();
    for (let turn = 0; turn < 6; turn++)
      await writeBackup({
        dir,
        file: join(at, `${turn}.backup`),
        hasLogs: true,
        unlock: UNLOCK,
        acp: "0",
        nowMs: 0,
        onProgress: () => {},
      });
    isOver = true;
    await writing;
    for (let turn = 0; turn < 6; turn++) {
      const to = join(at, `r${turn}`);
      expect(await acp("restore", join(at, `${turn}.backup`), "--to", to, "--yes")).toMatchObject({
        code: 0,
      });
      const { stdout, stderr } = await say(["audit", "verify", "--home", to, "--json"]);
      expect([stdout, stderr]).toEqual([expect.stringContaining('"ok":true'), ""]);
      expect(stdout).toContain('"checkpoints"');
    }
  });
});

describe("acp backup refuses", () => {
  it("to replace a file, and leaves no half one", async () => {
    const { file, acp } = await world();
    await writeFile(file, "mine");
    expect(await acp("backup", file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("replaces nothing"),
    });
    expect(await readFile(file, "utf8")).toBe("mine");
    expect((await readdir(join(file, ".."))).sort()).toEqual(["backup.key", "home.backup"]);
  });

  it("a key file or passphrase file in the home", async () => {
    const { dir, file, home } = await world();
    const inside = join(home.keysDir, "unlock.key");
    for (const env of [{ ACP_KEY_FILE: inside }, { ACP_PASSPHRASE_FILE: inside }])
      expect(await say(["backup", file, "--home", dir], { env })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("lost with it"),
      });
    expect(await say(["backup", file, "--home", dir])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("not a terminal"),
    });
  });

  it("a home of another user, or one that cannot be read", async () => {
    const { dir, file, acp } = await world();
    // Root can read everything, and nobody else can give a home away.
    await (process.getuid?.() === 0 ? chown(dir, 12_345, 12_345) : chmod(dir, 0));
    onTestFinished(() => chmod(dir, 0o700));
    expect(await acp("backup", file)).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/belongs to user|EACCES/),
    });
    expect(await acp("restore", file, "--yes")).toMatchObject({ code: 3 });
  });

  it("a home that is missing", async () => {
    const { file, dir, acp } = await world();
    await rm(dir, { recursive: true });
    expect(await acp("backup", file)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("does not exist"),
    });
  });
});

describe("acp restore", () => {
  it("shows grants and passkeys that ended since, asks, and changes nothing on a no", async () => {
    const { dir, file, acp, typing, home } = await world();
    const grants = fileGrants(home.grantsPath);
    await grants.put(grant("gr_revoked"));
    await grants.put(grant("gr_kept"));
    const passkeys = filePasskeys(home.passkeysPath);
    await passkeys.add({
      id: "pk1",
      approver: "ada",
      publicKey: "AA",
      rpId: "x.localhost",
      origins: ["http://*.x.localhost"],
      label: "phone",
      createdAtMs: 1,
    });
    await acp("backup", file);
    await grants.revoke("gr_revoked");
    await passkeys.revoke("pk1", "ada", 5);
    const before = await textsOf(dir);
    const dry = await acp("restore", file, "--dry-run", "--json");
    const back = [
      { kind: "grant", id: "gr_revoked" },
      { kind: "passkey", id: "pk1" },
    ];
    expect(JSON.parse(dry.stdout)).toMatchObject({ is_restored: false, came_back: back });
    const no = await typing("n\n", "restore", file);
    expect(no).toMatchObject({ code: 1, stderr: expect.stringContaining("Nothing was changed") });
    expect(no.stderr).toContain("gr_revoked");
    expect(no.stderr).toContain('passkey "phone" of ada');
    expect(no.stderr).not.toContain("gr_kept");
    expect(await textsOf(dir)).toEqual(before);
    expect(await acp("restore", file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--dry-run"),
    });
    expect(await typing("y\n", "restore", file)).toMatchObject({ code: 0 });
    const events = [];
    for await (const { eventType, metadata } of readAuditLog(join(dir, "audit.jsonl")))
      events.push({ eventType, ...metadata });
    expect(events.at(-1)).toMatchObject({ eventType: "home_restored", came_back: back });
    // It counts again, and says so.
    expect((await say(["grants", "--home", dir])).stdout).toContain("gr_revoked");
  });

  it("shows everything where there is no home to compare with", async () => {
    const { dir, file, acp, home } = await world();
    await fileGrants(home.grantsPath).put(grant("gr_1"));
    await acp("backup", file);
    await rm(dir, { recursive: true });
    const { stdout } = await acp("restore", file, "--yes", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ is_compared: false, came_back: [{ id: "gr_1" }] });
  });

  it("refuses a home that a process uses, and names it", async () => {
    const { dir, file, acp, home } = await world();
    await acp("backup", file);
    await mkdir(join(dir, "run"), { mode: 0o700 });
    const server = createServer().listen(join(dir, "run", "4711.sock"));
    onTestFinished(() => void server.close());
    const before = await textsOf(dir);
    expect(await acp("restore", file, "--yes")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("process 4711 uses it"),
    });
    expect(await textsOf(dir)).toEqual(before);
    await openHome(home.dir);
  });

  it("refuses what is wrong with the place, and leaves nothing there", async () => {
    const { dir, file, acp } = await world();
    await acp("backup", file);
    const at = await folder();
    await writeFile(join(at, "file"), "");
    await symlink(dir, join(at, "link"));
    for (const name of ["file", "link"])
      expect(
        await say([
          "restore",
          file,
          "--yes",
          "--home",
          join(at, name),
          "--key-file",
          join(file, "../backup.key"),
        ]),
      ).toMatchObject({ code: 3, stderr: expect.stringContaining("not a folder") });
    expect(await acp("restore", file, "--yes", "--to", at)).toMatchObject({ code: 2 });
    expect((await readdir(at)).sort()).toEqual(["file", "link"]);
  });
});
