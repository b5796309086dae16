/**
 * `acp service install` and `acp service uninstall`: the resident of the home starts when its user
 * logs in, and runs until they log out.
 */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { ConsentError } from "@acp/core";
import { trustedPath, trustedProgram } from "@acp/host";
import type { Invocation, Run } from "../command.js";
import { homeOf, ownHomePath } from "../home/home-source.js";
import { OWN_PROGRAM } from "../own-program.js";
import { defineService, hasServices } from "../service/definition.js";
import type { ServiceDefinition, ServiceParts } from "../service/definition.js";
import { removeService, writeService } from "../service/write-service.js";

/** Runs `acp service install`. */
export const serviceInstall: Run = async (invocation) => {
  const { print, io } = invocation;
  const { dir } = await homeOf(invocation);
  const reach = { workspaces: [io.cwd] };
  const node = trustedProgram(process.execPath, reach);
  if ("reason" in node) throw untrusted(process.execPath, node.reason);
  const program = trustedPath(OWN_PROGRAM, reach);
  if (typeof program !== "string") throw untrusted(OWN_PROGRAM, program.reason);
  const service = define(invocation, {
    home: await realpath(dir),
    node: process.execPath,
    program,
  });
  const isChanged = await writeService(service);
  const { path, start } = service;
  print.result({ path, changed: isChanged, start }, () => [
    isChanged
      ? `${print.tone("green", "written")} ${path}`
      : `${print.tone("dim", "unchanged")} ${path}`,
    `The next login starts it; to start it now: ${start}`,
  ]);
  return "ok";
};

/** Runs `acp service uninstall`. */
export const serviceUninstall: Run = async (invocation) => {
  const { print } = invocation;
  const service = await serviceOf(invocation, ownHomePath(invocation));
  const { path, end } = service;
  const isRemoved = await removeService(service);
  print.result({ path, removed: isRemoved, end }, () =>
    isRemoved
      ? [`${print.tone("green", "removed")} ${path}`, `If it runs, end it: ${end}`]
      : [`No service is installed for this home (${path})`],
  );
  return isRemoved ? "ok" : "nothing";
};

/** Ends the service of a home at the next login, and says how to end it now; nothing without one. */
export async function removeServiceOf(
  invocation: Invocation,
  home: string,
): Promise<{ readonly path: string; readonly end: string } | undefined> {
  if (!hasServices(process.platform)) return undefined;
  const service = await serviceOf(invocation, home);
  return (await removeService(service)) ? service : undefined;
}

/** To be found and removed: what it would start does not matter. */
async function serviceOf(invocation: Invocation, named: string): Promise<ServiceDefinition> {
  // A home that is gone may have left its service behind.
  const home = await realpath(named).catch(() => named);
  return define(invocation, { home, node: process.execPath, program: "/" });
}

function define(
  { io }: Invocation,
  parts: Pick<ServiceParts, "home" | "node" | "program">,
): ServiceDefinition {
  const { userHome, env } = io;
  const { platform } = process;
  const variables = Object.fromEntries(
    (["ACP_KEY_FILE", "ACP_PASSPHRASE_FILE"] as const).flatMap((name) => {
      const path = env[name];
      return path === undefined ? [] : [[name, resolve(io.cwd, path)]];
    }),
  );
  const configHome = env["XDG_CONFIG_HOME"];
  return defineService({ ...parts, platform, userHome, configHome, variables });
}

const untrusted = (path: string, reason: string): ConsentError =>
  new ConsentError("options_invalid", `A login would not start "${path}": ${reason}`);
