import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { verifyAuditLog } from "@acp/audit";

const run = promisify(execFile);
const EMBED = fileURLToPath(new URL("embed.ts", import.meta.url));
const TSX = fileURLToPath(import.meta.resolve("tsx"));
const PAGES = ["README.md", "docs/how-to/embedding.md", "docs/tutorials/embed.md"];

interface Scratch extends AsyncDisposable {
  readonly path: string;
}

async function scratch(): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), "acp-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Looks until the text is there; gives up before the run does, so that the terminal is closed. */
async function until(look: () => Promise<string>, text: string): Promise<void> {
  for (let looks = 0; looks < 2_400; looks++) {
    if ((await look().catch(() => "")).includes(text)) return;
    await wait(50);
  }
  throw new Error(`it never said ${text}`);
}

/** The example in a terminal of its own, with the keys that a person types. */
async function inTerminal(cwd: string, keys: string): Promise<string> {
  const tmux = (...args: readonly string[]): Promise<string> =>
    run("tmux", ["-L", `acp-embed-${process.pid}`, ...args]).then(({ stdout }) => stdout);
  await tmux(
    "new-session",
    "-d",
    "-s",
    "embed",
    "-c",
    cwd,
    "-x",
    "120",
    "-y",
    "40",
    `'${process.execPath}' --import '${TSX}' '${EMBED}' > said.txt`,
  );
  try {
    await until(() => tmux("capture-pane", "-p", "-t", "embed"), "\n>");
    // a person's pause: what is typed before the question can be read answers nothing
    await wait(500);
    await tmux("send-keys", "-t", "embed", keys);
    // Enter follows once the key is shown: what comes in one piece is taken for a paste.
    await until(() => tmux("capture-pane", "-p", "-t", "embed"), `\n> ${keys}`);
    await tmux("send-keys", "-t", "embed", "Enter");
    await until(() => readFile(join(cwd, "said.txt"), "utf8"), "sent");
    return await readFile(join(cwd, "said.txt"), "utf8");
  } finally {
    await tmux("kill-server").catch(() => "");
  }
}

describe("examples/embed", () => {
  it("sends when the person at the terminal says yes", async () => {
    await using at = await scratch();
    expect(await inTerminal(at.path, "a")).toBe("sent\n");
    expect(JSON.parse(await readFile(join(at.path, "outbox.json"), "utf8"))).toEqual({
      to: "ada@example.com",
      subject: "Hello",
    });
    expect(await verifyAuditLog(join(at.path, "audit.jsonl"))).toMatchObject({ ok: true });
  });

  it("sends nothing where nobody can be asked", async () => {
    await using at = await scratch();
    // A session of its own has no controlling terminal.
    const child = spawn(process.execPath, ["--import", TSX, EMBED], {
      cwd: at.path,
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (chunk) => (said += String(chunk)));
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect([code, said]).toEqual([0, expect.stringMatching(/^not sent: Cannot ask anybody/)]);
    await expect(readFile(join(at.path, "outbox.json"))).rejects.toThrow("ENOENT");
  });

  it.each(PAGES)("is the snippet of %s, word for word", async (page) => {
    expect(await readFile(new URL(`../../${page}`, import.meta.url), "utf8")).toContain(
      `\`\`\`ts\n${await readFile(EMBED, "utf8")}\`\`\``,
    );
  });
});
