/**
 * Held: agents whose command has not begun. Each is let go once or ended, and a backend's `spawn`
 * is its `hold` and the word to go at once.
 */
import type { Socket } from "node:net";
import { ConsentError, type SandboxSpawnOptions } from "@acp/core";
import type { ConnectionTakers, HeldAgent, LinuxSandbox, LinuxSandboxedProcess } from "./parts.js";

/** What a backend knows of an agent that it holds. */
export interface HeldParts
  extends Pick<HeldAgent, "report" | "persistent" | "unheld" | "view" | "onHeldName"> {
  readonly go: (takers: ConnectionTakers) => LinuxSandboxedProcess | Promise<LinuxSandboxedProcess>;
  /** Ends everything that was started, and throws what it should be told as. */
  readonly undo: (error: unknown) => Promise<never>;
  /** Ends everything that was started. */
  readonly end: () => Promise<void>;
}

/**
 * Makes one that is let go or ended, and neither twice: what it started may be somebody else's
 * number afterwards.
 */
export function makeHeld({ go, undo, end, ...rest }: HeldParts): HeldAgent {
  let isOver = false;
  return {
    ...rest,
    go: async (takers) => {
      if (isOver)
        throw new ConsentError(
          "sandbox_failed",
          "Cannot let an agent begin: it has begun or was ended already",
        );
      isOver = true;
      try {
        return await go(takers);
      } catch (error) {
        return await undo(error);
      }
    },
    close: async () => {
      if (isOver) return;
      isOver = true;
      await end();
    },
  };
}

/** Completes a backend. */
export function withSpawn(backend: Omit<LinuxSandbox, "spawn">): LinuxSandbox {
  return { ...backend, spawn: (argv, options) => spawnHeld(backend.hold, argv, options) };
}

/** Holds an agent and lets it go. */
export async function spawnHeld(
  hold: LinuxSandbox["hold"],
  argv: readonly string[],
  { onConnection, ports, ...options }: SandboxSpawnOptions<Socket>,
): Promise<LinuxSandboxedProcess> {
  const held = await hold(argv, {
    ...options,
    ...(ports !== undefined && { ports: [...ports.keys()] }),
  });
  return await held.go({ onConnection, ...(ports !== undefined && { ports }) });
}
