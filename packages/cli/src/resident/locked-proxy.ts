/**
 * Locked proxy: what programs behind `acp proxy http` hear while the home's key is locked, or the
 * index of its logs is being made. The client goes on listening; what the policy or the guard denies
 * is denied, and everything else is answered with the reason.
 */
import { ConsentError } from "@acp/core";
import { openHome } from "@acp/home";
import { createHttpConsentProxy } from "@acp/proxy-http";
import { HTTP_AGENT_ID } from "../commands/proxy-http.js";
import { readHomeConfig } from "../gate/config.js";
import { ownHomePath } from "../home/home-source.js";
import { choosePort } from "../http/settings.js";
import type { Doors } from "./doors.js";
import { openLockedJudge } from "./locked.js";
import type { ServeLocked } from "./locked.js";

/** Answers the programs of one client. */
export const serveProxyLocked =
  (doors: Doors): ServeLocked =>
  async (invocation, { code, message, onDenied }, signal) => {
    const source = await readHomeConfig(await openHome(ownHomePath(invocation)), invocation);
    const judge = await openLockedJudge(invocation);
    const agent = { id: invocation.values.agent ?? HTTP_AGENT_ID };
    const why = (): string => (typeof message === "string" ? message : message());
    await using proxy = disposable(
      createHttpConsentProxy({
        gate: {
          run(action) {
            onDenied?.(agent.id);
            const verdict = judge(action, agent.id);
            if (verdict !== undefined) return Promise.resolve({ ran: false, verdict });
            return Promise.reject(new ConsentError(code, why()));
          },
        },
      }),
    );
    // Tokens may be sealed with the key: nobody is told apart, and nothing is let through.
    const take: Parameters<Doors["open"]>[0][number]["take"] = (socket) =>
      proxy.attach(socket, { agent });
    const [port] = await doors.open([{ name: "http", port: choosePort(source, invocation), take }]);
    invocation.print.notice(`Listening on http://127.0.0.1:${port}. ${why()} [${code}]`);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  };

const disposable = <T extends { close(): Promise<void> }>(proxy: T): T & AsyncDisposable =>
  Object.assign(proxy, { [Symbol.asyncDispose]: () => proxy.close() });
