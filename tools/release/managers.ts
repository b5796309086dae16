/**
 * The package managers that users have. npm comes with Node; the others are packages, pinned in
 * tools/pnpm and tools/managers.
 */
import { join } from "node:path";
import { root } from "../workspace.mjs";
import type { Manager } from "./consumer.js";

/** Where tools/managers installs them. */
export const MANAGERS_HOME: string = join(root, "tools/managers");

const installed = (path: string): string => join(MANAGERS_HOME, "node_modules", path);
const pnpmScript = join(root, "tools/pnpm/node_modules/pnpm/bin/pnpm.cjs");
const yarnClassic = [process.execPath, installed("yarn/bin/yarn.js")];
const yarnBerry = [process.execPath, installed("@yarnpkg/cli-dist/bin/yarn.js")];
// Its package has an install script that only puts this file in place.
const bun = installed(
  `@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : process.arch}/bin/bun`,
);

/** A publisher needs a token; a registry on loopback takes any. */
const npmEnv = (registry: string, home: string): Readonly<Record<string, string>> => ({
  npm_config_registry: registry,
  npm_config_cache: join(home, "cache"),
  npm_config_update_notifier: "false",
  [`npm_config_${registry.replace("http:", "")}/:_authToken`]: "none",
});

function berryEnv(registry: string, home: string): Readonly<Record<string, string>> {
  return {
    YARN_NPM_REGISTRY_SERVER: registry,
    YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
    YARN_GLOBAL_FOLDER: join(home, "yarn"),
    YARN_ENABLE_TELEMETRY: "false",
    YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
    YARN_NPM_MINIMAL_AGE_GATE: "0",
  };
}

export const npm: Manager = {
  name: "npm",
  install: ["npm", "install", "--no-audit", "--no-fund"],
  env: npmEnv,
};

/** All of them but npm. */
export const OTHERS: readonly Manager[] = [
  {
    name: "pnpm",
    install: [process.execPath, pnpmScript, "install"],
    env: (registry, home) => ({
      npm_config_registry: registry,
      npm_config_store_dir: join(home, "store"),
    }),
  },
  {
    name: "yarn 1",
    install: [...yarnClassic, "install", "--non-interactive"],
    env: (registry, home) => ({
      npm_config_registry: registry,
      YARN_REGISTRY: registry,
      YARN_CACHE_FOLDER: join(home, "cache"),
    }),
  },
  {
    name: "yarn with node_modules",
    install: [...yarnBerry, "install"],
    env: (registry, home) => ({ ...berryEnv(registry, home), YARN_NODE_LINKER: "node-modules" }),
  },
  {
    name: "yarn with plug'n'play",
    install: [...yarnBerry, "install"],
    node: [...yarnBerry, "node"],
    exec: [...yarnBerry, "run"],
    cannotWrite:
      "it puts a file system of its own in place of node:fs, whose file handles have no Symbol.asyncDispose",
    env: berryEnv,
  },
  {
    name: "bun",
    install: [bun, "install"],
    env: (registry, home) => ({
      BUN_CONFIG_REGISTRY: registry,
      BUN_INSTALL_CACHE_DIR: join(home, "cache"),
    }),
  },
];
