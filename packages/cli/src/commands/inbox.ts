/**
 * `acp inbox`: the approval page of every running gate of the home, until it is told to end.
 */
import { createInterface } from "node:readline";
import type { ApproverClients } from "@acp/channel-terminal";
import { asError } from "@acp/core";
import { createInbox, toNodeHandler } from "@acp/channel-web";
import type { Inbox } from "@acp/channel-web";
import { openHome } from "@acp/home";
import type { PasskeyRecord } from "@acp/home";
import type { Invocation, Run } from "../command.js";
import { ownHomePath } from "../home/home-source.js";
import { readHistory } from "../inbox/history.js";
import { homePauses } from "../inbox/home-pauses.js";
import { homeReviews } from "../inbox/home-reviews.js";
import { listen } from "../inbox/listen.js";
import { announcePage } from "../inbox/page-address.js";
import { choosePasskeyName, madeElsewhere, makeFreshHost } from "../inbox/names.js";
import { localApprover, readPasskeyFrom, readPlace, SOCKET_CHANNEL } from "../inbox/settings.js";
import type { InboxPlace } from "../inbox/settings.js";
import { loggedPasskeys } from "../logs/logged-passkeys.js";
import { followOutcomes } from "../outcomes/logged-outcomes.js";
import { readHomeConfig } from "../gate/config.js";
import { attachToGates } from "../gate/run-directory.js";
import { startForApprover } from "../resident/start-for.js";

/** Runs the command. */
export const inbox: Run = async (invocation) => {
  const { io, values, print } = invocation;
  const place = readPlace(invocation);
  const passkeyFrom = readPasskeyFrom(values["passkey-from"]);
  const home = await openHome(ownHomePath(invocation));
  const { config } = await readHomeConfig(home, invocation);
  const approver = localApprover(config);
  const signal = io.onStop();
  let handler: Inbox["handler"] = () => Promise.resolve(new Response(undefined, { status: 503 }));
  // First the port: the origin has it in its name.
  await using server = await listen(
    toNodeHandler((request) => handler(request)),
    { place, uid: peerUid(place, io.env), warn: (text) => print.notice(text) },
  );
  const passkeys = loggedPasskeys(home, invocation);
  const name = nameOf(place, server.port, await passkeys.list());
  await using outcomes = await followOutcomes(home.dir);
  let endPaused: ApproverClients["endPaused"] = () => Promise.resolve({ ended: 0, left: 0 });
  await using page = createInbox({
    ...name,
    pauses: homePauses({ home, operator: approver, endPaused: () => endPaused() }),
    reviews: homeReviews({ home, io, reviewer: approver }),
    people: [{ approver, subject: SOCKET_CHANNEL.subject }],
    passkeys,
    passkeyFrom,
    history: (limit) => readHistory(home.dir, limit),
    outcomes: (ids) => outcomes.find(ids),
    warn: (text) => print.notice(text),
  });
  ({ handler } = page);
  await startForApprover(home, invocation);
  await using gates = await attachToGates(invocation, "approver", signal);
  ({ endPaused } = gates);
  page.attach(gates, SOCKET_CHANNEL);
  await using _told = await tellGates(invocation, home.dir, name.origin);
  tell(invocation, { page, approver, origin: name.origin });
  const others = madeElsewhere(await passkeys.list(), name.rpId);
  if (others.length > 0)
    print.notice(
      `${others.length} of the passkeys were created for another name and do not work here: create new ones, and revoke those (acp passkeys list)`,
    );
  await aborted(signal);
  return "ok";
};

/** Another inbox of the home may be told already; people sign in there as they do here. */
async function tellGates(
  { print }: Invocation,
  home: string,
  origin: string,
): Promise<AsyncDisposable | undefined> {
  try {
    return await announcePage(home, origin);
  } catch (error) {
    print.notice(`Agents' clients are not shown this address: ${asError(error).message}`);
    return undefined;
  }
}

/** What it is called: by its https name, or by one of this machine that nobody knew before. */
function nameOf(
  { origin }: InboxPlace,
  port: number,
  passkeys: readonly PasskeyRecord[],
): { readonly origin: string; readonly rpId: string } {
  if (origin !== undefined) return { origin, rpId: hostOf(origin) };
  const rpId = choosePasskeyName(passkeys);
  return { origin: `http://${makeFreshHost(rpId)}:${port}`, rpId };
}

/** The inbox itself says what is wrong with an origin that is none. */
const hostOf = (origin: string): string =>
  URL.canParse(origin) ? new URL(origin).hostname : origin;

/**
 * Whose connections are taken: the user's own, also where they started this with sudo. Behind a
 * reverse proxy it is the proxy that connects, and elsewhere than on Linux nobody says who it is.
 */
function peerUid({ origin }: InboxPlace, env: Invocation["io"]["env"]): number | undefined {
  if (origin !== undefined || process.platform !== "linux") return undefined;
  const uid = process.getuid?.();
  const sudoer = Number(env["SUDO_UID"] ?? "");
  return uid === 0 && Number.isSafeInteger(sudoer) && sudoer > 0 ? sudoer : uid;
}

interface Telling {
  readonly page: Inbox;
  readonly approver: string;
  readonly origin: string;
}

/** Where to sign in. A code serves once: another one comes with the Enter key. */
function tell({ io, print }: Invocation, { page, approver, origin }: Telling): void {
  const invite = (): void => {
    const code = page.signInCode(approver);
    print.result({ url: origin, sign_in: `${origin}/#code=${code}`, code }, () => [
      `sign in at ${origin}/#code=${code}`,
      `(once, within 10 minutes; the code is ${code})`,
    ]);
  };
  invite();
  if (!io.stdin.isTTY) return;
  print.notice("Enter makes another sign-in code; Ctrl-C ends the inbox");
  createInterface({ input: io.stdin }).on("line", invite);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
