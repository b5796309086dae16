/**
 * Managers to compare with: one that trusts everything and holds nothing, and the line of
 * bubblewrap that many write themselves.
 */
import { join } from "node:path";
import { KIT } from "./ground.js";
import type { ManagerUnderTest } from "./run.js";

/** Trusts what it finds and holds nothing: every attempt has to succeed here, or it is none. */
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
 * A shell function around `bwrap`: the whole system for reading, the workspace for writing, no
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
