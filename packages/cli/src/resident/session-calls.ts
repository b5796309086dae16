/**
 * Session calls: the frames of one session about the calls that its client numbers, and what the
 * logs say of them. Format: spec/resident.md §5.
 */
import type { Socket } from "node:net";
import { stateOfCalls } from "../gate/forwarded.js";
import { createClientCalls } from "./calls.js";
import type { ClientCalls } from "./calls.js";
import { frameOf } from "./wire.js";
import type { Frame } from "./wire.js";

/** The calls of a client, and its frames about them. */
export interface Numbered {
  /** Undefined for a client that gives its calls no numbers. */
  readonly calls: ClientCalls | undefined;
  /** Takes a frame; false where it is none that may come now. */
  take(frame: Frame): boolean;
}

/** None was made yet. */
export function numberedCalls(
  socket: Socket,
  homeDir: string,
  secret: string | undefined,
): Numbered {
  const calls = secret === undefined ? undefined : createClientCalls(secret);
  // One reading of the logs at a time.
  let isAsking = false;
  return {
    calls,
    take({ kind, body }) {
      if (kind === "call") return calls?.take(body) === true;
      if (kind !== "asks" || isAsking) return false;
      isAsking = true;
      void tellStates(socket, homeDir, calls?.asked(body)).then(() => (isAsking = false));
      return true;
    },
  };
}

/** Tells a client how far its calls came, as the logs say it. */
async function tellStates(
  socket: Socket,
  homeDir: string,
  asked: ReturnType<ClientCalls["asked"]>,
): Promise<void> {
  if (asked === undefined) return void socket.destroy();
  const states = await stateOfCalls(homeDir, [...asked.values()]);
  const calls = Array.from(asked, ([n, { call }]) => ({ n, state: states.get(call) }));
  if (!socket.destroyed) socket.write(frameOf("known", JSON.stringify({ calls })));
}
