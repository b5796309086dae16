/** Examination of the ports that the configuration names: free, or used by ACP. */
import { createServer } from "node:net";
import type { Config } from "@acp/home";
import { describePortHolder } from "../../inbox/port-holder.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";

/** Ports. */
export const portsExamination: Examination = {
  id: "ports",
  looksAt: "Ports of config.yml are free or used by ACP",
  async look({ config }) {
    const loaded = await config();
    if (loaded === undefined || loaded instanceof Error) return [];
    return (await Promise.all(portsOf(loaded).map(findPort))).flat();
  },
};

interface NamedPort {
  readonly key: string;
  readonly host: string;
  readonly port: number;
}

function portsOf({ httpPort, webhook }: Config): readonly NamedPort[] {
  const listen = webhook?.listen;
  return [
    ...(httpPort === undefined
      ? []
      : [{ key: "proxy.http_port", host: "127.0.0.1", port: httpPort }]),
    ...(listen === undefined ? [] : [{ key: "webhook.listen", ...listen }]),
  ];
}

/** A process of ours: the command line names the program. */
const OURS = /(?:^|[\s/(])acp(?:\.cjs)?[\s)]/;

async function findPort({ key, host, port }: NamedPort): Promise<readonly Found[]> {
  const code = await tryPort(host, port);
  if (code === undefined) return [];
  if (code === "EACCES")
    return [makeFound("port_forbidden", { found: `You may not listen on port ${port} (${key})` })];
  const holder = code === "EADDRINUSE" ? await describePortHolder(port) : undefined;
  if (holder !== undefined && OURS.test(holder)) return [];
  const by = holder === undefined ? "" : ` by ${holder}`;
  const found =
    code === "EADDRINUSE"
      ? `Port ${port} (${key}) is taken${by}`
      : `Port ${port} (${key}) cannot be used on ${host}: ${code}`;
  return [makeFound("port_taken", { found })];
}

/** Listens for a moment; the system's code where that fails. */
function tryPort(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown"));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
