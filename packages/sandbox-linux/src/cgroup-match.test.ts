import { describe, expect, it } from "vitest";
import { placeCgroup } from "./cgroup-match.js";

const UNIFIED = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const HYBRID = `25 22 0:22 / /sys/fs/cgroup ro - tmpfs tmpfs rw
26 25 0:23 / /sys/fs/cgroup/unified rw shared:5 - cgroup2 cgroup2 rw
27 25 0:24 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
`;

describe("placeCgroup()", () => {
  it("places it below the manager's own cgroup", () => {
    expect(
      placeCgroup("acp-1", { mounts: UNIFIED, own: "0::/user.slice/session-1.scope\n" }),
    ).toEqual({
      directory: "/sys/fs/cgroup/user.slice/session-1.scope/acp-1",
      name: { path: "user.slice/session-1.scope/acp-1", level: 3 },
    });
  });

  it("names it as nft resolves it when the layout is hybrid: the mount point belongs to the path, not to the level", () => {
    expect(placeCgroup("acp-1", { mounts: HYBRID, own: "9:name=systemd:/a\n0::/\n" })).toEqual({
      directory: "/sys/fs/cgroup/unified/acp-1",
      name: { path: "unified/acp-1", level: 1 },
    });
  });

  it("counts the level from the root of the hierarchy when only a part is mounted", () => {
    const part = "30 23 0:26 /docker/ab /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    expect(placeCgroup("acp-1", { mounts: part, own: "0::/docker/ab/x\n" })).toEqual({
      directory: "/sys/fs/cgroup/x/acp-1",
      name: { path: "x/acp-1", level: 4 },
    });
    expect(placeCgroup("acp-1", { mounts: part, own: "0::/elsewhere\n" })).toHaveProperty(
      "missing",
    );
  });

  it("takes a cgroup of version 2 that was made for other reasons, and none of version 1", () => {
    const made = ["/sys/fs/cgroup/memory/acp-1", "/sys/fs/cgroup/unified/x/acp-1"];
    expect(placeCgroup("acp-1", { mounts: HYBRID, own: "0::/\n", made })).toHaveProperty("name", {
      path: "unified/x/acp-1",
      level: 2,
    });
    expect(
      placeCgroup("acp-1", { mounts: HYBRID, own: "0::/\n", made: made.slice(0, 1) }),
    ).toHaveProperty("name.path", "unified/acp-1");
  });

  it("reads what the kernel escapes", () => {
    const odd = "30 23 0:26 / /sys/fs/cgroup/a\\040b rw - cgroup2 cgroup2 rw\n";
    expect(placeCgroup("acp-1", { mounts: odd, own: "0::/\n" })).toHaveProperty(
      "name.path",
      "a b/acp-1",
    );
  });

  it.each([
    [
      "there is no version 2",
      "27 25 0:24 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
      "0::/\n",
    ],
    ["it is mounted elsewhere", "30 23 0:26 / /mnt/cgroup rw - cgroup2 cgroup2 rw\n", "0::/\n"],
    [
      "a name only begins like the place",
      "30 23 0:26 / /sys/fs/cgroups rw - cgroup2 cgroup2 rw\n",
      "0::/\n",
    ],
    ["the process is in none", UNIFIED, "9:name=systemd:/a\n"],
    ["the process is outside of its namespace's root", UNIFIED, "0::/../other\n"],
  ])("says why there is none when %s", (_, mounts, own) => {
    expect(placeCgroup("acp-1", { mounts, own })).toHaveProperty("missing");
  });
});
