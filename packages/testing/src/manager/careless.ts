/**
 * Managers to compare with: one that trusts everything and holds nothing, and the line of
 * bubblewrap that many write themselves.
 */
import { join } from "node:path";
import { KIT } from "./ground.js";
import type { ManagerUnderTest } from "./run.js";

/**
 * A manager that trusts what it finds and stops nothing: every attempt must succeed here, or it
 * proves nothing elsewhere.
 */
export const carelessManager: ManagerUnderTest = {
  name: "careless",
  claims: [],
  command: async (argv, { workspace, server = [] }) => [
    "/bin/sh",
    join(KIT, "careless.sh"),
    workspace,
    server.join(" "),
    ...argv,
  ],
};

/**
 * A plain `bwrap` call, for comparison: the whole system readable, the workspace writable, no
 * network.
 */
export const wrapperManager: ManagerUnderTest = {
  name: "bwrap",
  claims: [],
  command: async (argv, { workspace, readable }) => [
    ..."bwrap --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --ro-bind /etc /etc".split(
      " ",
    ),
    ..."--proc /proc --dev /dev --tmpfs /tmp --unshare-all --die-with-parent".split(" "),
    ...`--bind ${workspace} ${workspace} --chdir ${workspace}`.split(" "),
    ...(readable === undefined ? [] : `--ro-bind ${readable} ${readable}`.split(" ")),
    ...argv,
  ],
};
