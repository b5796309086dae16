import { describe, expect, it } from "vitest";
import { httpAction, shellAction, toolAction } from "../action/action.js";
import type { JsonObject } from "../json/value.js";
import { createPathGuard } from "./path-guard.js";

/** Links of a made-up disk, from path to target; and files that exist. */
const LINKS: Readonly<Record<string, string>> = {
  "/home/ada/projects/harmless": "/home/ada/.ssh",
  "/home/ada/projects/key.txt": "/srv/consent/keys/private.key",
  "/home/ada/projects/up": "/home/ada/.acp/keys/deep",
  "/home/ada/projects/unseen": "/home/ada/.a\u200dcp",
  "/home/ada/projects/x\ny": "/home/ada/.ssh/id_rsa",
  "/home/ada/.ssh/An Old Key File": "/srv/old",
  "/home/ada/linked": "/data/consent",
};
const FILES = new Set(["/home/ada/.ssh/Login Data For Account"]);

function resolve(path: string): { readonly path: string; readonly exists: boolean } {
  const link = Object.keys(LINKS).find((each) => path === each || path.startsWith(`${each}/`));
  return link === undefined
    ? { path, exists: FILES.has(path) }
    : { path: `${LINKS[link] ?? ""}${path.slice(link.length)}`, exists: true };
}

const guard = createPathGuard({
  userHome: "/home/ada",
  acpHome: "/home/ada/.acp",
  closed: ["/srv/consent", "/etc/acp/policy.yml"],
  startsOf: (server) => (server === "home" ? ["/home/ada"] : ["/home/ada/projects"]),
  resolve,
});
const judge = (args: JsonObject, tool = "read_text_file", server = "files"): string => {
  const ruling = guard.judge(toolAction(server, tool, args), { agent: { id: "a" }, nowMs: 0 });
  return ruling === undefined ? "none" : `${ruling.effect} ${ruling.ruleId}`;
};

const ALL_OF_IT = "ask guard:around";

describe("createPathGuard()", () => {
  it.each([
    ["/home/ada/.acp/keys/private.key"],
    ["~/.acp/keys/private.key"],
    ["~/.acp"],
    ["$HOME/.acp/vault.json"],
    ["${HOME}/.acp/vault.json"],
    ["%USERPROFILE%\\.acp\\vault.json"],
    ["../.acp/policy.yml"],
    ["./../.acp/policy.yml"],
    ["/home/ada/projects/../.acp/policy.yml"],
    ["/home//ada/./.acp/policy.yml"],
    ["file:///home/ada/.acp/policy.yml"],
    ["FILE://localhost/home/ada/.acp/policy.yml"],
    ["file:/home/ada/.acp/policy.yml"],
    ["file:///home/ada/%2eacp/policy.yml"],
    ["/home/ada/%252eacp/policy.yml"],
    ["/home/ada/%25252eacp/policy.yml"],
    ["/home/ada/%2eacp/%ff"],
    ["fs://root/home/ada/.acp/policy.yml"],
    ["  /home/ada/.acp/policy.yml\n"],
    ['"/home/ada/.acp/policy.yml"'],
    ["'/home/ada/.acp/policy.yml'"],
    ["`/home/ada/.acp/policy.yml`"],
    ["/home/ada/.acp/policy.yml\0.txt"],
    ["/HOME/Ada/.ACP/policy.yml"],
    ["/home/ada/\uff0eacp/policy.yml"],
    ["/home/ada/.a\u200dcp/policy.yml"],
    ["\uff0fhome\uff0fada\uff0f.acp\uff0fpolicy.yml"],
    ["\uff5e/.acp/policy.yml"],
    ["/home/ada/%2\u200deacp/policy.yml"],
    ["/home/ada/.acp./policy.yml"],
    ["/home\\ada\\.acp\\policy.yml"],
    ["C:\\home\\ada\\.acp\\policy.yml"],
    ["\\\\?\\C:\\home\\ada\\.acp\\policy.yml"],
    ["file:///C:/home/ada/.acp/policy.yml"],
    ["http:/../../../../home/ada/.acp/policy.yml"],
    ["/home/ada/.a?p/policy.yml"],
    ["/home/ada/.ac[p]/policy.yml"],
    ["/srv/consent/keys/private.key"],
    ["/etc/acp/policy.yml"],
    ["key.txt"],
    ["up/../private.key"],
    ["nowhere/../key.txt"],
    ["unseen/policy.yml"],
    ["~/.acp/keys\n/tmp/a"],
    ['["~/.acp/keys"]'],
  ])("denies %j, whatever the argument is called", (path) => {
    for (const args of [
      { path },
      { paths: ["a.txt", path] },
      { file_path: path },
      { deep: { er: [{ x: path }] } },
    ])
      expect(`${path} ${judge(args)}`).toBe(`${path} deny guard:acp-home`);
  });

  it.each([
    ["~/.ssh/id_rsa"],
    ["/home/ada/.ssh/id_rsa"],
    ["~/.SSH/ID_RSA"],
    [".ssh/id_rsa"],
    ["~bob/.ssh/id_rsa"],
    ["/root/.aws/credentials"],
    ["~/.gnupg"],
    ["~/.config/gcloud/credentials.db"],
    ["~/.kube/config"],
    ["~/.docker/config.json"],
    ["~/.netrc"],
    [".npmrc"],
    [".pypirc"],
    [".git-credentials"],
    ["~/.mozilla/firefox/x/logins.json"],
    ["~/.config/google-chrome/Default/Cookies"],
    ["~/Library/Application Support/Google/Chrome/Default/Login Data"],
    ["~/.password-store/a.gpg"],
    ["~/.local/share/keyrings/login.keyring"],
    [".env"],
    [".env.production"],
    ["app/.env.local"],
    ["id_ed25519"],
    ["/proc/self/environ"],
    ["/proc/12/mem"],
    ["/proc/self/map_files/1000-2000"],
    ["https:/../../../../root/.ssh/id_rsa"],
    ["~/.ssh/An Old Key File"],
    ["~/.s*/id_rsa"],
    ["~/.ssh/Login Data For Account"],
    ["harmless/id_rsa"],
    ["server.pem"],
    ["~my friend/.ssh/id_rsa"],
    ["x\ny"],
    ["file:///home/ada/.ssh/id_rsa"],
  ])("asks about %j", (path) => {
    for (const args of [{ path }, { paths: ["a.txt", path] }, { file_path: path }])
      expect(`${path} ${judge(args)}`).toBe(`${path} ask guard:credentials`);
  });

  it.each([
    ["a.txt"],
    ["/home/ada/projects/a.txt"],
    [".env.example"],
    [".env.sample"],
    ["src/.env.template"],
    ["src/credentials.ts"],
    ["hello"],
    ["My keys are in ~/.ssh/id_rsa and ~/.acp/keys, keep them safe"],
    ["# Notes\n\nThe gate lives in ~/.acp/policy.yml\n"],
    ["~/.acp/keys/private.key is where it is kept"],
    ["https://example.com/.ssh/config"],
    ["the key in .ssh/id_rsa"],
    ["/tmp/a /home/bob/.ssh/id_rsa"],
    ["/tmp/a b.\n\nsrc:/home/bob/.ssh/id_rsa"],
    [""],
    ["*.ts"],
    ["%zz"],
    ["a".repeat(10_000)],
  ])("says nothing about %j", (path) => {
    expect(judge({ path })).toBe("none");
  });

  it.each([
    ["~"],
    ["/"],
    ["/home"],
    ["/home/ada"],
    [".."],
    ["../.."],
    ["~/.config"],
    ["/home/ada/**/*"],
  ])("asks before all of %j is read, copied or deleted", (path) => {
    for (const tool of ["search_files", "move_file", "delete_directory", "read_multiple_files"])
      expect(judge({ path }, tool)).toBe(ALL_OF_IT);
    for (const tool of ["listen", "treecopy", "archive_list", "statement"])
      expect(judge({ path }, tool)).toBe(ALL_OF_IT);
    for (const tool of ["list_directory", "directory_tree", "get_file_info"])
      expect(judge({ path }, tool)).toBe("none");
  });

  it("takes no tool that tells names for one that may look into what is closed or secret", () => {
    expect(judge({ path: "~/.acp/keys" }, "list_directory")).toBe("deny guard:acp-home");
    expect(judge({ path: "~/.ssh" }, "list_directory")).toBe("ask guard:credentials");
  });

  it("closes ACP's own files where links lead to them, and asks about what is around", () => {
    const linked = createPathGuard({
      userHome: "/home/ada",
      acpHome: "/home/ada/linked",
      startsOf: () => ["/srv"],
      resolve,
    });
    const of = (path: string): string | undefined =>
      linked.judge(toolAction("files", "read", { path }), { agent: { id: "a" }, nowMs: 0 })?.ruleId;
    for (const path of ["/home/ada/linked/policy.yml", "/data/consent/policy.yml", "~/linked"])
      expect(of(path)).toBe("guard:acp-home");
    expect([of("/data"), of("/data/other")]).toEqual(["guard:around", undefined]);
  });

  it("starts relative paths where the server does", () => {
    expect(judge({ path: "." }, "search_files", "home")).toBe("ask guard:around");
    expect(judge({ path: "." }, "search_files", "files")).toBe("none");
    expect(judge({ path: ".acp/keys/private.key" }, "read_file", "home")).toBe(
      "deny guard:acp-home",
    );
  });

  it("joins directories and names", () => {
    expect(judge({ dir: "/srv", name: "consent/keys/private.key" })).toBe("deny guard:acp-home");
    expect(judge({ name: "consent", dir: "file:///srv" })).toBe("deny guard:acp-home");
    expect(judge({ base: "~", files: ["a", ".acp"] })).toBe("deny guard:acp-home");
    expect(judge({ dir: "~/.ssh", name: "id_rsa" })).toBe("ask guard:credentials");
    expect(judge({ parts: ["srv", "consent", "keys"] })).toBe("deny guard:acp-home");
    expect(judge({ tags: ["srv", "other", "keys"] })).toBe("none");
  });

  it("looks at keys that are paths, and at more texts than any call has", () => {
    expect(judge({ files: { "/home/ada/.acp/policy.yml": "x" } })).toBe("deny guard:acp-home");
    expect(judge({ texts: Array.from({ length: 3_000 }, () => "hello") })).toBe("ask guard:size");
    expect(
      judge({ texts: Array.from({ length: 1_500 }, (_, index) => ` %2541\\\\${index}? `) }),
    ).toBe("ask guard:size");
  });

  it("is about tools, and offers nothing that would answer the next question", () => {
    const facts = { agent: { id: "a" }, nowMs: 0 };
    expect(guard.judge(shellAction("cat ~/.ssh/id_rsa"), facts)).toBeUndefined();
    expect(guard.judge(httpAction("GET", "http://a.example/.ssh/id_rsa"), facts)).toBeUndefined();
    expect(guard.judge(toolAction("files", "read", { path: "~/.ssh" }), facts)).toMatchObject({
      level: "high",
      ask: { offers: [] },
    });
    const many = { texts: Array.from({ length: 3_000 }, () => "hello") };
    expect(guard.judge(toolAction("files", "read", many), facts)).toMatchObject({
      ruleId: "guard:size",
      ask: { offers: [] },
    });
  });

  it("looks at the disk a bounded number of times, whatever an agent makes up", () => {
    let looks = 0;
    const counted = createPathGuard({
      userHome: "/home/ada",
      acpHome: "/home/ada/.acp",
      startsOf: () => ["/home/ada/projects"],
      resolve: (path) => {
        looks += 1;
        return { path, exists: false };
      },
    });
    const bad = [
      "%25".repeat(1_300),
      "../".repeat(1_300),
      "\\".repeat(2_000),
      "a/".repeat(2_000),
      "/".concat("[".repeat(4_000)),
      "*a".repeat(2_000),
    ];
    for (const text of bad) {
      const call = toolAction("files", "read", {
        texts: Array.from({ length: 200 }, (_, index) => `${text}${index}`.slice(-4_000)),
      });
      counted.judge(call, { agent: { id: "a" }, nowMs: 0 });
    }
    // Three places to start from at most, each as it is written and as a text is normalised, for
    // each reading that is looked at.
    expect(looks).toBeLessThan(bad.length * 3_000 * 4);
  });
});
