/**
 * What another sandbox sees of a workspace that is an agent's overlay: the agent's own mount,
 * guarded, and never what lies below.
 */
import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { describe, expect, it } from "vitest";
import { createLandlockSandbox, createNamespaceSandbox } from "../src/backends.js";
import { joinView, nameView } from "../src/namespace-view.js";
import type {
  AgentView,
  ConfinementOptions,
  LinuxSandboxedProcess,
  Workspace,
} from "../src/parts.js";
import { namespaces, PATH, runShell, startAgent } from "./namespace-kit.js";
import { overlayWorld } from "./overlay-kit.js";
import type { OverlayWorld } from "./overlay-kit.js";

const GIT = { ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "" };
const FILES = {
  "a.txt": "one\n",
  ".envrc": "person\n",
  ".git/hooks/pre-push": "person\n",
  "docs/b.txt": "two\n",
  ...GIT,
};

interface Running {
  readonly world: OverlayWorld;
  readonly agent: LinuxSandboxedProcess;
  readonly view: AgentView;
  /** A line of the agent's shell, and what it prints. */
  readonly ask: (line: string) => Promise<string>;
  /** What a server of it is given. */
  readonly given: (workspace?: Partial<Workspace>, more?: ConfinementOptions) => ConfinementOptions;
}

/** An agent that runs in an overlay: a shell that does what it is told. */
async function startOverlaid(): Promise<Running> {
  const world = overlayWorld(FILES);
  onTestFinished(() => world[Symbol.asyncDispose]());
  const held = await createNamespaceSandbox(world.options).hold(["/bin/sh"], {
    env: ({ home }) => ({ PATH, HOME: home }),
    stdio: "pipe",
  });
  const { view } = held;
  if (view === undefined) throw new Error("It has no overlay");
  const agent = await held.go({ onConnection: (socket) => socket.destroy() });
  onTestFinished(() => agent.close());
  const { stdin, stdout } = agent;
  if (stdin === undefined || stdout === undefined) throw new Error("It has no pipes");
  const ask = (line: string): Promise<string> =>
    new Promise((resolve) => {
      let text = "";
      const hear = (chunk: Buffer): void => {
        text += String(chunk);
        if (!text.endsWith("<end>\n")) return;
        stdout.off("data", hear);
        resolve(text.slice(0, -"<end>\n".length));
      };
      stdout.on("data", hear);
      stdin.write(`${line}\necho '<end>'\n`);
    });
  const given = (
    more: Partial<Workspace> = {},
    options: ConfinementOptions = {},
  ): ConfinementOptions => {
    const { user, hidden = [] } = world.options;
    const workspace: Workspace = { path: world.work, access: "read-write", ...more };
    return { workspace, hidden, view, ...(user !== undefined && { user }), ...options };
  };
  return { world, agent, view, ask, given };
}

describe.skipIf(!namespaces.run)(`the view of an agent in an overlay ${namespaces.reason}`, () => {
  it("shows another sandbox what the agent wrote, and takes what that writes: both ways, at once, and nothing below", async () => {
    const { world, ask, given } = await startOverlaid();
    const before = world.look();
    expect(await ask("echo agent > a.txt; echo agent > new.txt; rm docs/b.txt; echo ok")).toBe(
      "ok\n",
    );
    const server = await runShell(
      "cat a.txt new.txt; ls docs | wc -l; echo server >> new.txt; echo server > served.txt",
      given(),
    );
    expect(server.output).toBe("agent\nagent\n0\n");
    expect([server.exit.code, server.report.level]).toEqual([0, "full"]);
    expect(server.report.items.find(({ aspect }) => aspect === "files")?.reason).toContain(
      "kept apart until you take it",
    );
    expect(await ask("cat new.txt served.txt; echo again >> served.txt")).toBe(
      "agent\nserver\nserver\n",
    );
    expect((await runShell("cat served.txt", given())).output).toBe("server\nagain\n");
    expect(world.look()).toEqual(before);
    expect(readFileSync(join(world.layers, "upper/served.txt"), "utf8")).toBe("server\nagain\n");
  });

  it("is read-only where it was given for reading", async () => {
    const { world, ask, given } = await startOverlaid();
    await ask("echo agent > new.txt");
    const { output } = await runShell(
      "cat new.txt; (echo x > new.txt) 2>&1 | grep -c Read-only",
      given({ access: "read-only" }),
    );
    expect(output).toBe("agent\n1\n");
    expect(await ask("cat new.txt")).toBe("agent\n");
    expect(world.look()).toContain(".envrc 644 person\n");
  });

  it("holds what other programs run by themselves, against the same tricks as without an overlay", async () => {
    const { ask, given } = await startOverlaid();
    const script = `echo x > .envrc; mv .envrc e; rm -rf .git/hooks; mv .git g; echo x > .git/hooks/pre-commit; ln -sf /tmp/x .envrc; echo x > fine.txt`;
    await runShell(`(${script}) 2>/dev/null; true`, given());
    expect(await ask("cat .envrc .git/hooks/pre-push fine.txt; ls .git/hooks")).toBe(
      "person\nperson\nx\npre-push\n",
    );
  });

  it("is what directories in the workspace lead to, too", async () => {
    const { world, ask, given } = await startOverlaid();
    await ask("echo agent > docs/new.txt; mkdir out");
    const { user, hidden = [], view } = given();
    const docs = join(world.work, "docs");
    const base: ConfinementOptions = {
      hidden,
      ...(view !== undefined && { view }),
      ...(user !== undefined && { user }),
    };
    const { output } = await runShell(`cat ${docs}/new.txt; echo server > ${docs}/written.txt`, {
      ...base,
      writable: [docs],
    });
    expect(output).toBe("agent\n");
    expect(await ask("cat docs/written.txt")).toBe("server\n");
    expect(world.look().some((line) => line.includes("written"))).toBe(false);
    // Made by the agent: below it there is none.
    await expect(
      startAgent(["true"], { ...base, writable: [join(world.work, "out")] }),
    ).rejects.toMatchObject({ code: "options_invalid" });
  });

  it("shows what is outside of the workspace as the host has it, and a home and packages in hidden places", async () => {
    const { world, given } = await startOverlaid();
    const [home, packages] = [join(world.home, "server"), join(world.home, "packages")];
    mkdirSync(home, { mode: 0o700 });
    mkdirSync(packages, { mode: 0o755 });
    const { output } = await runShell(
      `echo kept > "$HOME/x"; cat "$HOME/x"; cat a.txt; ls -d ${packages}; ls ${world.home}/layers 2>&1 | wc -l`,
      {
        ...given(),
        home,
        packages,
      },
    );
    expect(output).toBe(`kept\none\n${packages}\n1\n`);
    expect(readFileSync(join(home, "x"), "utf8")).toBe("kept\n");
  });

  it("ends with the agent, and is refused where it was made up, with an overlay of its own, and by landlock", async () => {
    const { world, agent, view, given } = await startOverlaid();
    const layers = join(world.home, "second");
    await expect(startAgent(["true"], given({ access: "overlay", layers }))).rejects.toMatchObject({
      code: "options_invalid",
    });
    await expect(startAgent(["true"], given({}, { view: { ...view } }))).rejects.toMatchObject({
      code: "sandbox_failed",
    });
    await expect(createLandlockSandbox(given()).probe()).rejects.toMatchObject({
      code: "options_invalid",
      message: expect.stringContaining("only namespace can show what another agent sees"),
    });
    await agent.close();
    await expect(startAgent(["true"], given())).rejects.toMatchObject({
      code: "sandbox_failed",
      message: expect.stringContaining("the agent has ended"),
    });
  });

  it("joinView() holds what another process named, and nothing else", async () => {
    const { agent, view, ask, given } = await startOverlaid();
    await ask("echo agent > new.txt");
    const named = nameView(view);
    const [namespace, pid, start] = named.process.split("-");
    const shown = given();
    {
      using joined = joinView(named);
      const { output } = await runShell("cat new.txt", { ...shown, view: joined.view });
      expect(output).toBe("agent\n");
    }
    for (const wrong of [
      { process: `${namespace}-${pid}-${Number(start) - 1}` },
      { process: `1-${pid}-${start}` },
      { process: `${namespace}-1-${start}` },
      { process: String(pid) },
      { inode: "1" },
      { device: "0" },
      { workspace: "/" },
    ])
      expect(() => joinView({ ...named, ...wrong })).toThrow(
        expect.objectContaining({ code: "sandbox_failed" }),
      );
    await agent.close();
    expect(() => joinView(named)).toThrow("the agent has ended");
    expect(() => nameView(view)).toThrow("the agent has ended");
  });

  it("starts nothing where the workspace was exchanged on the host", async () => {
    const { world, given } = await startOverlaid();
    renameSync(world.work, `${world.work}-away`);
    mkdirSync(world.work);
    const started = startAgent(["cat", "a.txt"], given());
    await expect(started).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:sandbox_failed|options_invalid)$/u),
    });
  });
});
