import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chooseAgentUser, type UserSources } from "./agent-user.js";

const passwd = [
  "root:x:0:0:root:/root:/bin/bash",
  "toor:x:0:0:also root:/root:/bin/bash",
  "wheel:x:1005:0:in root's group:/home/wheel:/bin/bash",
  "ann:x:1000:1000:Ann:/home/ann:/bin/bash",
  "openclaw:x:1001:1009::/home/openclaw:/bin/bash",
  "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
  "# a line that is none",
].join("\n");
const root = (env: UserSources["env"] = {}): UserSources => ({ uid: 0, env, passwd });

describe("chooseAgentUser() for a root manager", () => {
  it("takes the given user, by name or number, also one without a passwd line", () => {
    expect(chooseAgentUser({ user: "openclaw" }, root())).toEqual({
      uid: 1001,
      gid: 1009,
      name: "openclaw",
      home: "/home/openclaw",
    });
    expect(chooseAgentUser({ user: 1001 }, root())).toMatchObject({ name: "openclaw" });
    expect(chooseAgentUser({ user: "61000" }, root())).toEqual({
      uid: 61_000,
      gid: 61_000,
      name: "61000",
      home: "/nonexistent",
    });
  });

  it.each([
    0,
    "0",
    "root",
    "toor",
    "wheel",
    "nosuch",
    "",
    "-1",
    -1,
    "4294967295",
    1.5,
    "1000 ",
    "１０００",
  ])("throws options_invalid for %j", (user) => {
    expect(() => chooseAgentUser({ user }, root({ SUDO_UID: "1000" }))).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });

  it("takes who called sudo, and never root for it", () => {
    expect(chooseAgentUser({}, root({ SUDO_UID: "1000" }))).toMatchObject({
      uid: 1000,
      gid: 1000,
      name: "ann",
    });
    for (const SUDO_UID of ["0", "", "x", "-5", "4294967295"])
      expect(chooseAgentUser({}, root({ SUDO_UID }))).toMatchObject({ uid: 65_534 });
    expect(chooseAgentUser({}, root({ SUDO_UID: "1005" }))).toMatchObject({ uid: 1005, gid: 1005 });
  });

  it("takes the workspace's owner, else nobody", async () => {
    const path = await mkdtemp(join(tmpdir(), "acp-user-"));
    const own = process.getuid?.() ?? 0;
    const { uid } = chooseAgentUser({ workspace: { path, access: "read-write" } }, root());
    expect(uid).toBe(own === 0 ? 65_534 : own);
    await rm(path, { recursive: true });
    expect(chooseAgentUser({ workspace: { path, access: "read-write" } }, root())).toMatchObject({
      uid: 65_534,
      name: "nobody",
    });
  });
});

describe("chooseAgentUser() for any other manager", () => {
  const plain: UserSources = { uid: 1000, env: { SUDO_UID: "1001", HOME: "/somewhere" }, passwd };

  it("is the manager's own user", () => {
    expect(chooseAgentUser({}, plain)).toMatchObject({ uid: 1000, name: "ann", home: "/home/ann" });
    expect(chooseAgentUser({ user: "ann" }, plain)).toMatchObject({ uid: 1000 });
    expect(chooseAgentUser({}, { ...plain, uid: 61_000 })).toMatchObject({
      uid: 61_000,
      name: "61000",
      home: "/somewhere",
    });
  });

  it("throws options_invalid for another one", () => {
    expect(() => chooseAgentUser({ user: "openclaw" }, plain)).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});
