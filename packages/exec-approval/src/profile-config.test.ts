import { execFileSync } from "node:child_process";
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openExecProfile } from "./profile-config.js";

let home = "";
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "exec-profile-")));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const profileOf = (profileId: string = "default"): ReturnType<typeof openExecProfile> =>
  openExecProfile({ home, profileId });
const fileOf = (profileId: string = "default"): string =>
  join(home, "agent-profiles", profileId, "config.json");

async function write(text: string, mode: number = 0o600): Promise<void> {
  await mkdir(join(home, "agent-profiles", "default"), { recursive: true, mode: 0o700 });
  await writeFile(fileOf(), text, { mode });
  await chmod(fileOf(), mode);
}

const contents = async (): Promise<unknown> => JSON.parse(await readFile(fileOf(), "utf8"));
const patterns = (): readonly string[] =>
  profileOf()
    .read()
    .allowlist.entries.map(({ pattern }) => pattern);

/** The document's own file. */
const DOCUMENT = `{
  "execApproval": {
    "security": "allowlist",
    "ask": "on-miss",
    "timeoutMs": 60000,
    "askFallback": "deny",
    "allowlist": [
      { "pattern": "git **" },
      { "pattern": "pnpm **" }
    ]
  }
}
`;

describe("openExecProfile()", () => {
  it.each(["", ".acp", "~/.acp", "./home"])(
    "openExecProfile() takes no home that is not absolute: %j",
    (relative) => {
      expect(() => openExecProfile({ home: relative, profileId: "default" })).toThrow(
        expect.objectContaining({
          code: "options_invalid",
          message: expect.stringContaining("is not absolute"),
        }),
      );
    },
  );

  it.each(["", ".", "..", "a/b", "../x", "a\u0000", ".hidden", "x".repeat(129)])(
    "openExecProfile() refuses the id %j",
    (profileId) => {
      expect(() => openExecProfile({ home, profileId })).toThrow(
        expect.objectContaining({ code: "options_invalid" }),
      );
    },
  );
});

describe("read()", () => {
  it("read() gives the defaults where there is no file, and makes none", async () => {
    expect(profileOf().read()).toMatchObject({
      security: "allowlist",
      ask: "on-miss",
      timeoutMs: 60_000,
      askFallback: "deny",
    });
    expect(await readdir(home)).toEqual([]);
  });

  it("read() reads the document's file", async () => {
    await write(DOCUMENT);
    expect(patterns()).toEqual(["git **", "pnpm **"]);
  });

  it("read() gives the same object while the file is the same, and what it says when it changed", async () => {
    await write(DOCUMENT);
    const profile = profileOf();
    const before = profile.read();
    expect(profile.read()).toBe(before);
    await write(DOCUMENT.replace("on-miss", "always"));
    expect(profile.read().ask).toBe("always");
  });

  it("read() says how large a file is that is too large", async () => {
    await write("{}");
    await truncate(fileOf(), 2 * 1024 * 1024);
    expect(() => profileOf().read()).toThrow("it has 2097152 bytes");
  });

  it("read() takes no file of another user", async () => {
    await write(DOCUMENT);
    const { uid } = await stat(fileOf());
    // Root's files are everybody's: where the tests run as root the file is given away, else they
    // play another user.
    if (uid === 0) await chown(fileOf(), 12_345, 12_345);
    else vi.spyOn(process, "getuid").mockReturnValue(uid + 1);
    try {
      expect(() => profileOf().read()).toThrow(/it belongs to user \d+/);
    } finally {
      vi.restoreAllMocks();
    }
  });

  it("read() does not wait for a pipe in the file's place", async () => {
    await write("{}");
    await rm(fileOf());
    execFileSync("mkfifo", [fileOf()]);
    expect(() => profileOf().read()).toThrow("it is not a file");
  });

  it.each([
    ["is no JSON", "{", 0o600],
    ["is empty", "", 0o600],
    ["has an unknown key in the section", '{"execApproval": {"asks": "off"}}', 0o600],
    ["names the section wrongly", '{"execApprovals": {"ask": "off"}}', 0o600],
    ["is too large", `{"x": "${"x".repeat(1024 * 1024)}"}`, 0o600],
    ["others may write", DOCUMENT, 0o622],
    ["its group may write", DOCUMENT, 0o660],
  ])("read() throws for a file that %s", async (_name, text, mode) => {
    await write(text, mode);
    expect(() => profileOf().read()).toThrow(expect.objectContaining({ name: "ConsentError" }));
    await expect(profileOf().allow("ls **")).rejects.toMatchObject({ name: "ConsentError" });
    expect(await readFile(fileOf(), "utf8")).toBe(text);
  });

  it("read() follows no link", async () => {
    await write("{}");
    await rm(fileOf());
    await writeFile(join(home, "elsewhere.json"), DOCUMENT);
    await symlink(join(home, "elsewhere.json"), fileOf());
    expect(() => profileOf().read()).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });

  it("read() throws for a directory in the file's place", async () => {
    await mkdir(fileOf(), { recursive: true });
    expect(() => profileOf().read()).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });
});

describe("allow()", () => {
  it("allow() makes the file, private, in the document's format", async () => {
    await profileOf().allow("git **");
    expect(await contents()).toEqual({ execApproval: { allowlist: [{ pattern: "git **" }] } });
    expect((await stat(fileOf())).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, "agent-profiles"))).mode & 0o777).toBe(0o700);
  });

  it("allow() keeps every other key, and what stands in the section", async () => {
    await write(
      `{"model": {"name": "x", "list": [1, 2.5, null]}, ${DOCUMENT.slice(1, -2)}, "later": "é"}`,
    );
    await profileOf().allow("npm **");
    expect(await contents()).toEqual({
      model: { name: "x", list: [1, 2.5, null] },
      execApproval: {
        security: "allowlist",
        ask: "on-miss",
        timeoutMs: 60_000,
        askFallback: "deny",
        allowlist: [{ pattern: "git **" }, { pattern: "pnpm **" }, { pattern: "npm **" }],
      },
      later: "é",
    });
  });

  it("allow() does nothing where the pattern stands there", async () => {
    await write(DOCUMENT);
    await profileOf().allow("git **");
    expect(await readFile(fileOf(), "utf8")).toBe(DOCUMENT);
  });

  it("allow() writes nothing that does not load", async () => {
    await write(DOCUMENT);
    await expect(profileOf().allow("** rm")).rejects.toMatchObject({ code: "config_invalid" });
    expect(await readFile(fileOf(), "utf8")).toBe(DOCUMENT);
  });

  it("allow() loses none of those that come at once, from several objects of the same file", async () => {
    const names = Array.from({ length: 12 }, (_, at) => `tool${at} **`);
    const [one, other] = [profileOf(), profileOf()];
    await Promise.all(names.map((name, at) => (at % 2 === 0 ? one : other).allow(name)));
    expect([...patterns()].sort()).toEqual([...names].sort());
    expect(await readdir(join(home, "agent-profiles", "default"))).toEqual(["config.json"]);
  });

  it("allow() refuses a home that others may enter", async () => {
    await chmod(home, 0o755);
    await expect(profileOf().allow("git **")).rejects.toMatchObject({ code: "home_invalid" });
  });

  it("allow() keeps profiles apart", async () => {
    await profileOf("one").allow("git **");
    expect(profileOf("two").read().allowlist.entries).toEqual([]);
  });
});
