/**
 * Secret globs: what leaves out files that usually hold credentials, and names to try a choice of
 * files on. The names themselves are those of secret-names.ts; a test holds the two together.
 */
import { ENDINGS, FILES, FOLDERS, STORES } from "./secret-names.js";

const words = (text: string): readonly string[] => text.split(" ");

/**
 * Words that name credentials in a file of data: `secrets.yml`, `token-prod.json`. Source code is
 * about them and holds none.
 */
const TOPICS: readonly string[] = words(
  "credential secret password passwd token api?key apikey service?account client?secret vault?pass",
);
/** `.json`, `.yaml`, `.yml`, `.toml`, `.txt`, and hardly an ending of source code. */
const DATA = ".[jyt][saxom][olmt]*";

/** Folders, by their names, with all that is in them. */
export const SECRET_FOLDERS: readonly string[] = [
  ".git",
  ".config",
  ...FOLDERS,
  ...STORES,
  ".m2",
  ".composer",
  ".codex",
];

/** Files, by their names, as globs that grep, rg, find and diff read alike. */
export const SECRET_FILES: readonly string[] = [
  ...words(".env* *.env *_history .secret* .vault?pass* id_rsa* id_dsa* id_ecdsa* id_ed25519*"),
  ...[...ENDINGS].map((ending) => `*.${ending}`),
  ...FILES,
  ...words("credentials secrets passwords passwd service?account client?secret vault?pass"),
  ...TOPICS.map((word) => `${word}*${DATA}`),
  ...words("key credential* secret* service?account").map((word) => `*[-_.]${word}${DATA}`),
  "*adminsdk*.json",
  ...words("*~ *.bak *.backup *.old *.orig *.save *.sw[nop]"),
];

/** Secret names, as paths: a choice of files that takes none of them is one of other files. */
export const SECRET_PROBES: readonly string[] = [
  ...FILES,
  ...[...ENDINGS].flatMap((ending) => [`server.${ending}`, `private.${ending}`]),
  ...words(
    ".env .env.local .env.production .env~ .envrc prod.env app.env .bash_history .zsh_history .python_history .vault_pass .secrets",
  ),
  ...words(
    "id_rsa id_dsa id_ecdsa id_ed25519 id_rsa.pub gcp-key.json prod_key.json app-firebase-adminsdk-1.json db-credentials.yml",
  ),
  ...words(
    "credentials passwords passwd service-account client_secret vault_pass server.key.bak id_rsa.old secrets.yml~ a.tfstate.backup",
  ),
  ...words(
    "credentials secrets passwords password token api_key apikey service-account client_secret",
  ).flatMap((name) => words("json yaml yml toml").map((ending) => `${name}.${ending}`)),
  ...[...FOLDERS].map((folder) => `${folder}/config`),
  ...[...STORES].map((folder) => `${folder}/prod.yml`),
  ...words(".git/config .config/gh/hosts.yml .m2/settings.xml .composer/auth.json"),
];
