/**
 * Unix peer: which user is at the other end of a connection over a Unix socket, as the kernel says
 * it to native/peer.c (SO_PEERCRED of unix(7)), which is given the open socket.
 */
import type { Socket } from "node:net";
import { peerHelper } from "./native-helper.js";
import type { MissingHelper, NativeHelperOptions } from "./native-helper.js";
import { runTool } from "./tools.js";

/** Can say who connected. */
export interface UnixPeers {
  /** Tells this result from {@link MissingHelper}. */
  readonly isAvailable: true;
  /**
   * The uid that the other end had when it connected; `undefined` where the connection is closed or
   * the helper could not ask.
   */
  uidOf(socket: Socket): Promise<number | undefined>;
}

const RUN_TIMEOUT_MS = 10_000;
/** Where the helper finds the socket, behind the three standard streams. */
const DESCRIPTOR = 3;
const UID = /^\d{1,10}\n$/u;

/** Finds or compiles what asks the kernel; says why it cannot where there is no compiler. */
export async function unixPeers(
  options: NativeHelperOptions = {},
): Promise<UnixPeers | MissingHelper> {
  const helper = await peerHelper(options);
  if (!helper.isAvailable) return helper;
  return {
    isAvailable: true,
    async uidOf(socket) {
      const descriptor = descriptorOf(socket);
      if (descriptor === undefined) return undefined;
      const { code, stdout } = await runTool([helper.path, "--of", String(DESCRIPTOR)], {
        descriptors: [descriptor],
        env: {},
        timeoutMs: RUN_TIMEOUT_MS,
      });
      return code === 0 && UID.test(stdout) ? Number(stdout) : undefined;
    },
  };
}

/** Node documents none of a socket; on Unix its handle has had one since it has been there. */
function descriptorOf(socket: Socket): number | undefined {
  const handle: unknown = "_handle" in socket ? socket._handle : undefined;
  if (typeof handle !== "object" || handle === null || !("fd" in handle)) return undefined;
  const { fd } = handle;
  return typeof fd === "number" && Number.isSafeInteger(fd) && fd >= 0 ? fd : undefined;
}
