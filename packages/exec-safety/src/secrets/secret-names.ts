/**
 * Secret names: files and folders that usually hold credentials, by their names. Compared in lower
 * case, since some file systems do.
 */
import { matchesGlob } from "./name-glob.js";

/** Folders whose whole content counts as secret. */
export const FOLDERS: ReadonlySet<string> = new Set([
  ".ssh",
  ".aws",
  ".gnupg",
  ".kube",
  ".docker",
  ".azure",
  ".oci",
  ".password-store",
  ".mozilla",
  ".thunderbird",
  ".acp",
]);

/** Folders below `.config` whose whole content counts as secret. */
const CONFIG_FOLDERS: ReadonlySet<string> = new Set(
  "gh hub gcloud op rclone doctl google-chrome chromium bravesoftware microsoft-edge vivaldi opera 1password bitwarden keepassxc".split(
    " ",
  ),
);

/**
 * Folders below certain others whose whole content counts as secret: browsers' profiles and key
 * stores.
 */
const FOLDERS_BELOW: ReadonlySet<string> = new Set([
  "share/keyrings",
  "share/kwalletd",
  "library/keychains",
  "library/cookies",
  "google/chrome",
  "application support/firefox",
  "application support/chromium",
  "application support/bravesoftware",
  "roaming/mozilla",
  "microsoft/edge",
  "snap/firefox",
  "snap/chromium",
]);

/** Files that are secret wherever they are. */
export const FILES: ReadonlySet<string> = new Set([
  ".netrc",
  "_netrc",
  ".authinfo",
  ".pgpass",
  ".my.cnf",
  ".mylogin.cnf",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
  ".htpasswd",
  ".vault-token",
  ".dockercfg",
  ".dockerconfigjson",
  ".s3cfg",
  ".boto",
  ".terraformrc",
  "kubeconfig",
]);

/** Endings of keys, key stores and password safes. */
export const ENDINGS: ReadonlySet<string> = new Set([
  "pem",
  "key",
  "p8",
  "p12",
  "pfx",
  "ppk",
  "jks",
  "keystore",
  "kdb",
  "kdbx",
  "ovpn",
  "tfstate",
]);

/** `.env.example` and the like hold no values. */
const ENV_SAMPLES: ReadonlySet<string> = new Set([
  "example",
  "sample",
  "template",
  "dist",
  "defaults",
  "schema",
]);

/** Endings of source code and prose: `credentials.ts` is about credentials and holds none. */
export const SOURCES: ReadonlySet<string> = new Set(
  "adoc c cc cpp cs css ex exs go h hpp html java js jsx kt less lua md mdx mjs mts cjs cts php pl py rb rs rst scala scss sh snap svelte swift ts tsx vue zig".split(
    " ",
  ),
);

/** Names that begin so are secret, unless they end like source code. */
const BEGINNINGS: readonly string[] = (
  "id_ credentials credential. secrets. secret. .secrets .secret service-account service_account client_secret client-secret passwords password. " +
  "passwd token. api_key. apikey. .vault_pass .vault-pass vault_pass vault-pass"
).split(" ");

/**
 * Keys and credentials of one service, project or machine: `gcp-key.json`, `prod_credentials.yml`,
 * `app-firebase-adminsdk-1.json`.
 */
const OF_SERVICE =
  /[-_.](?:key|credentials?|secrets?|service[-_]?account)\.(?:json|ya?ml|toml|txt|ini|csv)$|firebase-adminsdk[^/]*\.json$/;

/** Endings of copies that editors and people make. */
const COPY = /(?:~|\.(?:bak|backup|old|orig|save|sw[nop])\d*)$/;

/** Files that are secret in one folder: their names say nothing by themselves. */
const FILES_IN: ReadonlySet<string> = new Set([
  ".m2/settings.xml",
  ".composer/auth.json",
  ".codex/auth.json",
]);

/** Folders whose files are secret, unless they end like source code. */
export const STORES: ReadonlySet<string> = new Set(["secrets", "secret", "credentials", "creds"]);

const endingOf = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/**
 * Whether one part of a path, in lower case, names a secret. A copy of a secret is one; vim puts a
 * dot before the name of its own.
 */
function isSecretPart(part: string, before: string): boolean {
  const copied = part.length > 1 ? part.replace(COPY, "") : part;
  if (copied !== part && copied !== "")
    return (
      isSecretPart(copied, before) ||
      (copied.startsWith(".") && isSecretPart(copied.slice(1), before))
    );
  if (FOLDERS.has(part) || FILES.has(part) || FILES_IN.has(`${before}/${part}`)) return true;
  if (before === ".config" && CONFIG_FOLDERS.has(part)) return true;
  if (FOLDERS_BELOW.has(`${before}/${part}`)) return true;
  if (part === ".env" || part === ".envrc") return true;
  if (part.startsWith(".env.") || part.startsWith(".env-") || part.startsWith(".env_"))
    return !ENV_SAMPLES.has(endingOf(part));
  if (part.endsWith("_history")) return true;
  const ending = part.includes(".") ? endingOf(part) : "";
  if (ENDINGS.has(ending)) return true;
  if ((ending === "env" && part.length > 4) || OF_SERVICE.test(part)) return true;
  return (
    !SOURCES.has(ending) &&
    (STORES.has(before) || BEGINNINGS.some((beginning) => part.startsWith(beginning)))
  );
}

/**
 * Whether a path, relative or absolute, names a file or folder that usually holds credentials, by
 * any of its parts.
 *
 * @example
 * ```ts
 * import { isSecretName } from "@acp/exec-safety/secret-names";
 *
 * isSecretName("/home/ada/.ssh/id_ed25519"); // true
 * isSecretName("src/index.ts"); // false
 * ```
 */
export function isSecretName(path: string): boolean {
  let before = "";
  let isInGit = false;
  for (const part of path.toLowerCase().split("/")) {
    // A repository's settings hold the addresses of others, often with a token in them.
    if (isSecretPart(part, before) || (isInGit && part === "config")) return true;
    if (part !== "" && part !== ".") before = part;
    isInGit ||= part.endsWith(".git");
  }
  return false;
}

/** What every secret name holds, whatever else is in it. */
const HINT = new RegExp(
  [
    ...FOLDERS,
    ...FILES,
    ...STORES,
    ...BEGINNINGS,
    ...[...FILES_IN].map((path) => path.slice(path.lastIndexOf("/") + 1)),
    ".config",
    ".env",
    ".git",
    "_history",
    "key.",
    "account.",
    "serviceaccount",
    "adminsdk",
    ...[...FOLDERS_BELOW].map((path) => path.slice(path.lastIndexOf("/") + 1)),
    ...[...ENDINGS].map((ending) => `.${ending}`),
  ]
    .map((hint) => hint.replaceAll(".", "\\."))
    .join("|"),
);

/**
 * A quick test before {@link isSecretName}: if it returns false, no part of the text is a secret
 * name.
 */
export function mayHoldSecretName(text: string): boolean {
  return HINT.test(text.toLowerCase());
}

/** Secret names that a glob is tried against. */
const PROBES: readonly string[] = [
  "id_rsa",
  "id_ed25519",
  "id_ecdsa",
  "id_dsa",
  "server.pem",
  "private.pem",
  "private.key",
  "server.key",
  "cert.p12",
  "credentials",
  "credentials.json",
  "secrets.json",
  "secrets.yaml",
  "service-account.json",
  "terraform.tfstate",
  "passwords.kdbx",
];

/** Secret names, and the way out, that a glob is tried against when it begins with a dot. */
const DOT_PROBES: readonly string[] = [
  "..",
  ".env",
  ".env.local",
  ".env.production",
  ".netrc",
  ".pgpass",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
  ".bash_history",
  ".zsh_history",
  ".ssh",
  ".aws",
  ".gnupg",
  ".kube",
  ".docker",
  ".azure",
  ".htpasswd",
];

/**
 * Ordinary names. A glob that takes one of them as well is broad, like a recursive search, and not
 * aimed at a secret.
 */
const ORDINARY: readonly string[] = [
  "a",
  "README.md",
  "index.ts",
  "main.py",
  "app.js",
  "package.json",
  "config.yaml",
  "Makefile",
  "test.txt",
  "style.css",
  "src",
  "lib",
];

/**
 * Whether a glob that is one part of a path is aimed at secrets: it matches usual names of secrets
 * and no ordinary ones. A leading dot must be written out, so `*` matches no dot file.
 */
export function canMatchSecret(part: string): boolean {
  if (part === "*" || part === "**") return false;
  const glob = part.toLowerCase();
  if (glob.startsWith(".")) return DOT_PROBES.some((name) => matchesGlob(glob, name));
  return (
    PROBES.some((name) => matchesGlob(glob, name)) &&
    !ORDINARY.some((name) => matchesGlob(glob, name.toLowerCase()))
  );
}
