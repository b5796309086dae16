import { describe, expect, it } from "vitest";
import { isSecretName, mayHoldSecretName } from "./secret-names.js";

describe("isSecretName()", () => {
  it.each(
    (
      ".env .env.local .env-prod .env_prod .env.production config/.env .envrc prod.env .netrc .pgpass .npmrc .pypirc .git-credentials .bash_history .zsh_history " +
      "id_rsa id_ed25519 id_ed25519.pub keys/server.pem private.key cert.p12 vault.kdbx credentials credentials.json credentials.yml.enc " +
      ".ssh .ssh/config .aws/config .gnupg/x .kube/config .docker/config.json .azure/x .config/gh/hosts.yml .config/gcloud/x secrets.yaml " +
      ".ENV Id_Rsa .SSH/known_hosts terraform.tfstate service-account.json config/secrets/prod.yaml secrets/db passwords.txt password.txt token.json " +
      ".vault_pass .vault_pass.txt .env~ prod.env~ .env.bak gcp-key.json prod_key.json db-credentials.yml client_secret_1.json app-firebase-adminsdk-2.json " +
      ".npmrc.orig id_rsa.old server.key.save .server.key.swp .id_rsa.swp secrets.yml~ .git/config sub/.git/modules/x/config evil.git/config .m2/settings.xml .m2//settings.xml .m2/./settings.xml"
    ).split(" "),
  )("says yes to %j", (name) => expect(isSecretName(name)).toBe(true));

  it.each(
    (
      ".env.example .env.sample .env.template .envrc.md src/credentials.ts src/id_generator.ts docs/secrets.md keyboard.ts monkey.js environment.ts " +
      "env src/env.ts package.json .github/workflows/ci.yml .gitignore .eslintrc.json .config/nvim/init.lua history.ts secrets/index.ts gh/hosts.yml secrets src/secrets/README.md src/password.ts password-reset.html tokens.json tokenizer.json passwordless.md " +
      "package-lock.json keys.json i18n-keys.json .env.example~ README.md~ a.bak .git/HEAD src/config settings.xml monkey-key.ts digit/config"
    ).split(" "),
  )("says no to %j", (name) => expect(isSecretName(name)).toBe(false));
});

const WORDS = (
  ".ssh .AWS .gnupg .kube .docker .azure .oci .password-store .mozilla .thunderbird .acp .config gh gcloud op 1password bitwarden share keyrings " +
  "kwalletd library keychains cookies google chrome firefox chromium bravesoftware roaming microsoft edge snap .netrc _netrc .authinfo .pgpass " +
  ".my.cnf .npmrc .pypirc .git-credentials .htpasswd .vault-token .dockercfg .s3cfg .boto .terraformrc kubeconfig pem key p8 p12 pfx ppk jks " +
  "keystore kdb kdbx ovpn tfstate env example id_ credentials secrets secret service-account passwords passwd token api_key apikey _history " +
  "bash ts md . .. / // \u212aey"
).split(" ");

describe("mayHoldSecretName()", () => {
  it("overlooks no secret name, whatever stands around it", () => {
    const joints = ["/", ".", "", "/./"];
    let secrets = 0;
    for (const [at, first] of WORDS.entries())
      for (const second of WORDS)
        for (const joint of joints) {
          const path = `${WORDS[(at * 7) % WORDS.length] ?? ""}/${first}${joint}${second}`;
          if (!isSecretName(path)) continue;
          secrets += 1;
          expect({ path, mayHold: mayHoldSecretName(`x${path} y`) }).toEqual({
            path,
            mayHold: true,
          });
        }
    expect(secrets).toBeGreaterThan(5_000);
  });

  it.each(["/tmp/1.txt", "src/index.ts", "the quick brown fox", ""])(
    "has nothing to say about %j",
    (text) => expect(mayHoldSecretName(text)).toBe(false),
  );
});
