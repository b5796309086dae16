/**
 * Settings of the inbox: where it stands, who signs in, and from which level on a yes takes a
 * passkey. Read once, when it starts.
 */
import { ConsentError, quoteText, RISK_LEVELS } from "@acp/core";
import type { RiskLevel } from "@acp/core";
import type { Config } from "@acp/home";
import type { Invocation } from "../command.js";
import { readPort } from "../http/settings.js";

/** Where it listens, where nobody says so. */
export const INBOX_PORT = 8789;
const LEVELS: readonly PasskeyFrom[] = [...RISK_LEVELS, "rules-only"];

/** From which risk on a yes takes a passkey. */
export type PasskeyFrom = RiskLevel | "rules-only";

/** The channel and the subject that approve sockets are to their gates: spec/approve-socket.md. */
export const SOCKET_CHANNEL: { readonly channel: "terminal"; readonly subject: "local" } = {
  channel: "terminal",
  subject: "local",
};

/** Where the inbox listens, and by what name people reach it. */
export interface InboxPlace {
  /** On loopback; 0 takes a free port. */
  readonly port: number;
  /** Whether it is this port or none: it was named, or a reverse proxy knows it. */
  readonly isPortMeant: boolean;
  /** A Unix socket instead, for a reverse proxy. */
  readonly socketPath: string | undefined;
  /**
   * As the browser writes it; `undefined`: a name of this machine that is another one at each
   * start.
   */
  readonly origin: string | undefined;
}

/**
 * Reads the place.
 *
 * @throws ConsentError `options_invalid`.
 */
export function readPlace({ values }: Pick<Invocation, "values">): InboxPlace {
  const { socket: socketPath, origin } = values;
  if (socketPath !== undefined && origin === undefined)
    throw new ConsentError(
      "options_invalid",
      "Cannot use --socket alone: pass --origin with the https name at which people reach it",
    );
  if (socketPath !== undefined && values.port !== undefined)
    throw new ConsentError("options_invalid", "Cannot use --socket with --port: pass one of them");
  if (origin !== undefined && !origin.startsWith("https://"))
    throw new ConsentError(
      "options_invalid",
      `Cannot use --origin ${quoteText(origin)}: write an https name; without it the inbox has a name of this machine`,
    );
  const port = readPort("port", values.port);
  return {
    port: port ?? INBOX_PORT,
    isPortMeant: port !== undefined || origin !== undefined,
    socketPath,
    origin,
  };
}

/**
 * From which level on a yes takes a passkey.
 *
 * @throws ConsentError `options_invalid`.
 */
export function readPasskeyFrom(text: string | undefined): PasskeyFrom {
  const level = LEVELS.find((each) => each === (text ?? "high"));
  if (level !== undefined) return level;
  throw new ConsentError(
    "options_invalid",
    `Cannot read --passkey-from ${quoteText(text ?? "")}: write ${LEVELS.join(", ")}`,
  );
}

/**
 * Who the person at this machine is to the gates: the approver whom the configuration knows by the
 * approve socket.
 *
 * @throws ConsentError `config_invalid` where it names approvers, and none of them answers there.
 */
export function localApprover(config: Pick<Config, "approvers"> | undefined): string {
  const approvers = config?.approvers;
  if (approvers === undefined) return "local";
  const own = approvers.find(
    ({ channel, subject }) =>
      channel === SOCKET_CHANNEL.channel && subject === SOCKET_CHANNEL.subject,
  );
  if (own !== undefined) return own.id;
  throw new ConsentError(
    "config_invalid",
    `Cannot open an inbox: "approvers" names nobody with channel terminal and subject local, so no answer from here would count`,
  );
}
