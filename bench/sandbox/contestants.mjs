// Ways to start a program: our backends, and the pieces that one would build a sandbox of by hand.
// `port`: that of the server on this machine.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { createLinuxSandbox } from "@acp/sandbox-linux";

const CLIENT = fileURLToPath(new URL("client.mjs", import.meta.url));
const PATH = `${dirname(process.execPath)}:/usr/sbin:/usr/bin:/sbin:/bin`;
const BWRAP = [
  "bwrap",
  "--unshare-user",
  "--unshare-net",
  "--unshare-pid",
  "--die-with-parent",
  "--dev-bind",
  "/",
  "/",
  "--proc",
  "/proc",
  "--",
];
const UNSHARE = [
  "unshare",
  "--user",
  "--map-root-user",
  "--net",
  "--pid",
  "--fork",
  "--kill-child",
  "--",
];

/** What a program prints, whole, once it has ended; `firstMs`: when the first of it came. */
async function hear(stdout, ended, start) {
  let said = "";
  let firstMs;
  stdout.on("data", (chunk) => {
    firstMs ??= performance.now() - start;
    said += chunk;
  });
  await Promise.all([once(stdout, "close"), ended]);
  return { said, firstMs };
}

/** Starts a program by itself, or behind words that come before it. */
const plain = (before) => async (argv) => {
  const start = performance.now();
  const [program, ...args] = [...before, ...argv];
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH, HOME: "/tmp" },
  });
  return hear(child.stdout, once(child, "exit"), start);
};

/** Starts a program in a backend of ours; its connections go to the server as they come. */
const sandboxed = (name, server) => async (argv) => {
  const start = performance.now();
  const agent = await createLinuxSandbox(name, { user: 61_002 }).spawn(argv, {
    onConnection: (socket) => server.emit("connection", socket),
    env: ({ files, port }) => ({
      PATH,
      HOME: "/tmp",
      CLIENT: `${files}/client.mjs`,
      PORT: String(port),
    }),
    files: { "client.mjs": CLIENT },
    stdio: "pipe",
  });
  try {
    return await hear(agent.stdout, agent.exited, start);
  } finally {
    await agent.close();
  }
};

/** How each starts `/bin/sh -c echo`. */
export const makeStarts = (server) => ({
  "plain spawn": plain([]),
  "unshare: user, net, pid": plain(UNSHARE),
  "bwrap: user, net, pid": plain(BWRAP),
  ...Object.fromEntries(
    ["namespace", "uid", "landlock", "preload", "env"].map((name) => [
      name,
      sandboxed(name, server),
    ]),
  ),
});

/** A forwarder as others have it: TCP inside, a Unix socket of the host outside. */
const relay = (socketPath) =>
  `ip link set lo up 2>/dev/null; socat TCP-LISTEN:8788,bind=127.0.0.1,reuseaddr,fork UNIX-CONNECT:${socketPath} & \
   until { : >/dev/tcp/127.0.0.1/8788; } 2>/dev/null; do sleep 0.02; done; "$@"; code=$?; kill $!; exit $code`;

/**
 * How the client gets at the server in each; `requests` and `megabytes` as the client takes them.
 */
export const makeWays = (server, { port, socketPath, requests, megabytes }) => {
  const load = [String(requests), String(megabytes)];
  const client = (at) => [process.execPath, CLIENT, String(at), ...load];
  const inside = (name) => () =>
    sandboxed(name, server)(["/bin/sh", "-c", `exec node "$CLIENT" "$PORT" ${load.join(" ")}`]);
  return {
    "plain loopback": () => plain([])(client(port)),
    "namespace, handed-off listener": inside("namespace"),
    uid: inside("uid"),
    landlock: inside("landlock"),
    "bwrap with socat to a Unix socket": () =>
      plain([...BWRAP, "bash", "-c", relay(socketPath), "relay"])(client(8_788)),
  };
};
