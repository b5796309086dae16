/** Under test: puts a sandbox of the port in @acp/core under the kit. */
import type { Sandbox } from "@acp/core";
import type { SandboxUnderTest } from "./run.js";

/** Options of {@link sandboxUnderTest}. */
export interface SandboxUnderTestOptions<Socket> {
  /** Takes the agent's connections to the gate's proxy. */
  readonly onConnection: (socket: Socket) => void;
}

/**
 * Prepares a sandbox for {@link runEscapeKit}; its claims are those of its own report on this host.
 */
export async function sandboxUnderTest<Socket>(
  sandbox: Sandbox<Socket>,
  { onConnection }: SandboxUnderTestOptions<Socket>,
): Promise<SandboxUnderTest> {
  const { items } = await sandbox.probe();
  return {
    name: sandbox.name,
    claims: Object.fromEntries(items.map(({ aspect, enforcement }) => [aspect, enforcement])),
    async start(argv, { workspace }) {
      const agent = await sandbox.spawn(argv, {
        onConnection,
        cwd: workspace,
        env: ({ port }) => ({
          PATH: "/usr/local/bin:/usr/bin:/bin",
          HOME: workspace,
          HTTP_PROXY: `http://127.0.0.1:${port}`,
        }),
      });
      await agent.exited;
      await agent.close();
    },
  };
}
