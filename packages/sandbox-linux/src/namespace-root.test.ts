import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeRoot, type RootParts, writeEtc } from "./namespace-root.js";

let scratch: string;
beforeEach(async () => {
  scratch = await realpath(await mkdtemp(join(tmpdir(), "acp-root-")));
});
afterEach(() => rm(scratch, { recursive: true, force: true }));

const parts = (more: Partial<RootParts> = {}): RootParts => ({
  places: { workspace: undefined, readable: [], hidden: [], programs: [] },
  guard: { found: [], unheld: [], readOnly: [], pinned: [], writable: [], isComplete: true },
  inside: "/run/acp-sandbox/x/inside",
  etc: "/run/acp-sandbox/x/etc",
  node: "/usr/bin/node",
  scratchBytes: 1000,
  isAgents: true,
  ...more,
});

/** Places on the host that are shown. */
function shown(args: readonly string[]): readonly string[] {
  return args.flatMap((each, at) =>
    ["--ro-bind", "--bind"].includes(args[at - 1] ?? "") ? [each] : [],
  );
}

describe("makeRoot()", () => {
  it("shows programs and a few files of /etc, and nothing else of the host", () => {
    const allowed =
      /^(\/usr|\/(bin|sbin|lib\w*)|\/etc\/.+|\/run\/acp-sandbox\/x\/(inside|etc\/[a-z._]+))$/u;
    const args = makeRoot(parts());
    expect(shown(args).filter((path) => !allowed.test(path))).toEqual([]);
    for (const secret of [
      "/etc",
      "/etc/ssl",
      "/etc/passwd",
      "/etc/shadow",
      "/etc/resolv.conf",
      "/etc/hosts",
    ])
      expect(shown(args)).not.toContain(secret);
    expect(args.filter((each) => each === "--bind")).toEqual([]);
    expect(args.slice(-2)).toEqual(["--remount-ro", "/"]);
  });

  it("limits every place to write", () => {
    const args = makeRoot(parts({ scratchBytes: 4711 }));
    const places = args.flatMap((each, at) =>
      args[at - 1] === "--tmpfs" ? [[each, args[at - 3], args[at - 2]]] : [],
    );
    expect(places).toEqual(
      ["/dev/shm", "/tmp", "/home/agent"].map((path) => [path, "--size", "4711"]),
    );
  });

  it("makes the parents of what it shows for everybody", () => {
    const args = makeRoot(
      parts({
        places: {
          workspace: { path: "/a/b/c", access: "read-write" },
          readable: [],
          hidden: [],
          programs: [],
        },
      }),
    );
    expect(args.join(" ")).toContain(
      "--perms 0755 --dir /a --perms 0755 --dir /a/b --bind /a/b/c /a/b/c",
    );
  });

  it("mounts what lies in something else over it, for reading where that was said", () => {
    const places = {
      workspace: { path: "/a/b", access: "read-write" },
      readable: ["/a/b/c", "/a"],
      hidden: [],
      programs: [],
    } as const;
    const text = makeRoot(parts({ places })).join(" ");
    expect(text).toMatch(
      /--ro-bind \/a \/a --bind \/a\/b \/a\/b --ro-bind \/a\/b\/c \/a\/b\/c --ro-bind \S+\/boot_id /u,
    );
    const readOnly = { ...places, workspace: { path: "/a/b", access: "read-only" } } as const;
    expect(makeRoot(parts({ places: readOnly })).join(" ")).toContain("--ro-bind /a/b /a/b");
  });

  it("names what is open by its descriptor, at its path inside", () => {
    const places = {
      workspace: { path: "/a/b", access: "read-write" },
      readable: ["/c"],
      hidden: [],
      programs: [],
    } as const;
    const text = makeRoot(
      parts({ places, sourceOf: (path) => (path === "/a/b" ? "/proc/self/fd/9" : path) }),
    ).join(" ");
    expect(text).toContain("--bind /proc/self/fd/9 /a/b");
    expect(text).toContain("--ro-bind /c /c");
  });

  it("covers a hidden directory that lies in what everybody sees", () => {
    const hidden = ["/usr/share", "/etc/secret", "/usr/no/such/directory"];
    const args = makeRoot(
      parts({ places: { workspace: undefined, readable: [], hidden, programs: [] } }),
    );
    expect(args.join(" ")).toContain("--perms 0000 --tmpfs /usr/share --remount-ro /usr/share");
    expect(args).not.toContain("/etc/secret");
    expect(args).not.toContain("/usr/no/such/directory");
  });

  it("shows a node only where it is not shown already", () => {
    expect(shown(makeRoot(parts({ node: "/usr/bin/env" })))).not.toContain("/usr/bin/env");
    expect(makeRoot(parts({ node: "/tmp/node" })).join(" ")).toMatch(
      /--tmpfs \/tmp .*--ro-bind \/tmp\/node \/tmp\/node/u,
    );
  });
});

describe("writeEtc()", () => {
  it("names one user, one host and no resolver", async () => {
    const etc = join(scratch, "etc");
    await writeEtc(etc, { uid: 1234, gid: 5678, name: "x:0:0", home: "/x" });
    expect(await readFile(join(etc, "passwd"), "utf8")).toMatch(
      /^root:x:0:0:.*\nagent:x:1234:5678:agent:\/home\/agent:\/bin\/sh\n$/u,
    );
    expect(await readFile(join(etc, "resolv.conf"), "utf8")).toBe("");
  });
});
