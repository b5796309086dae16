import { describe, expect, it } from "vitest";
import type { AgentUser } from "./parts.js";
import { readUserFacts, refuseUser } from "./uid-checks.js";
import type { UserFacts } from "./uid-checks.js";

const USER: AgentUser = { uid: 61_000, gid: 61_001, name: "agent", home: "/nonexistent" };
const FACTS: UserFacts = { groups: ["agent"], subuid: "", subgid: "", nsswitch: "passwd: files\n" };

describe("refuseUser()", () => {
  it("lets a plain user pass", () => {
    const others = "other:100000:65536\nagents:165536:65536\n# agent:1:1\n\n6100:231072:65536\n";
    expect(
      refuseUser(USER, { ...FACTS, subuid: others, subgid: others, nsswitch: "subid: files\n" }),
    ).toBeUndefined();
  });

  it.each<[string, Partial<UserFacts>, string, string]>([
    [
      "subordinate uids by name",
      { subuid: "agent:100000:65536\n" },
      "/etc/subuid",
      "usermod --del-subuids 100000-165535 agent",
    ],
    [
      "subordinate uids by uid",
      { subuid: "x:1:1\n61000:100000:65536" },
      "/etc/subuid",
      "usermod --del-subuids 100000-165535 agent",
    ],
    [
      "subordinate gids by name",
      { subgid: "agent:100000:65536\n" },
      "/etc/subgid",
      "usermod --del-subgids 100000-165535 agent",
    ],
    [
      "subordinate gids by uid",
      { subgid: "61000:5:1\n" },
      "/etc/subgid",
      "usermod --del-subgids 5-5 agent",
    ],
    [
      "a uid in somebody's range",
      { subuid: "other:60000:2000\n" },
      '"other"',
      "give the agent an ID outside",
    ],
    [
      "a gid in somebody's range",
      { subgid: "other:61001:1\n" },
      '"other"',
      "give the agent an ID outside",
    ],
    [
      "ids from a directory service",
      { nsswitch: "passwd: files\nsubid: sss # all\n" },
      '"sss"',
      "subid: files",
    ],
    ["docker", { groups: ["agent", "docker"] }, '"docker"', "gpasswd -d agent docker"],
    ["lxd", { groups: ["lxd"] }, '"lxd"', "gpasswd -d agent lxd"],
    [
      "sudo and adm",
      { groups: ["sudo", "adm"] },
      '"sudo", "adm"',
      "gpasswd -d agent sudo; gpasswd -d agent adm",
    ],
    ["wheel", { groups: ["wheel"] }, '"wheel"', "gpasswd -d agent wheel"],
  ])("refuses a user with %s, and says how to mend it", (_, more, reason, fix) => {
    const refusal = refuseUser(USER, { ...FACTS, ...more });
    expect(refusal?.reason).toContain(reason);
    expect(refusal?.fix).toContain(fix);
  });

  it("refuses root, and root's group", () => {
    expect(refuseUser({ ...USER, uid: 0 }, FACTS)?.reason).toContain("root");
    expect(refuseUser({ ...USER, gid: 0 }, FACTS)?.reason).toContain("gid 0");
  });
});

describe("readUserFacts()", () => {
  it("finds the groups that the host knows when the user has a name", async () => {
    expect((await readUserFacts({ uid: 0, gid: 0, name: "root", home: "/root" })).groups).toContain(
      "root",
    );
  });

  it("finds the primary group of a uid without a name", async () => {
    expect((await readUserFacts({ uid: 61_000, gid: 4, name: "61000", home: "/" })).groups).toEqual(
      ["adm"],
    );
    expect(
      (await readUserFacts({ uid: 61_000, gid: 61_000, name: "61000", home: "/" })).groups,
    ).toEqual([]);
  });

  it("throws when nobody knows the name: what is not known is not harmless", async () => {
    await expect(
      readUserFacts({ uid: 61_000, gid: 61_000, name: "acp-nobody-of-that-name", home: "/" }),
    ).rejects.toThrow("acp-nobody-of-that-name");
  });
});
