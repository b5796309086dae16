import { describe, expect, it } from "vitest";
import { isSecretName, matchesGlob } from "./secret-names.js";

describe("isSecretName()", () => {
  it.each(
    (
      ".env .env.local .env.production config/.env .envrc prod.env .netrc .pgpass .npmrc .pypirc .git-credentials .bash_history .zsh_history " +
      "id_rsa id_ed25519 id_ed25519.pub keys/server.pem private.key cert.p12 vault.kdbx credentials credentials.json credentials.yml.enc " +
      ".ssh .ssh/config .aws/config .gnupg/x .kube/config .docker/config.json .azure/x .config/gh/hosts.yml .config/gcloud/x secrets.yaml " +
      ".ENV Id_Rsa .SSH/known_hosts terraform.tfstate service-account.json config/secrets/prod.yaml secrets/db passwords.txt password.txt token.json"
    ).split(" "),
  )("says yes to %j", (name) => expect(isSecretName(name)).toBe(true));

  it.each(
    (
      ".env.example .env.sample .env.template .envrc.md src/credentials.ts src/id_generator.ts docs/secrets.md keyboard.ts monkey.js environment.ts " +
      "env src/env.ts package.json .github/workflows/ci.yml .gitignore .eslintrc.json .config/nvim/init.lua history.ts secrets/index.ts gh/hosts.yml secrets src/secrets/README.md src/password.ts password-reset.html tokens.json tokenizer.json passwordless.md"
    ).split(" "),
  )("says no to %j", (name) => expect(isSecretName(name)).toBe(false));
});

describe("matchesGlob()", () => {
  it.each([
    ["*", "abc", true],
    ["a*c", "abbc", true],
    ["a*c", "abcd", false],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["[ab]x", "bx", true],
    ["[!ab]x", "bx", false],
    ["[a-c]x", "bx", true],
    ["[]a]x", "]x", true],
    ["[x", "[x", true],
    ["**a**", "bab", true],
    ["a", "b", false],
  ])("matchesGlob(%j, %j) is %j", (glob, name, expected) => expect(matchesGlob(glob, name)).toBe(expected));
});
