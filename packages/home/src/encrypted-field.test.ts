import { generateKeyPair } from "@acp/core/proof";
import { sealField } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { findEncryptedFields, openConfigField, resealFields } from "./encrypted-field.js";

const [from, to] = [generateKeyPair(), generateKeyPair()];
const paths = ["telegram.bot_token", "proxy.upstream_servers[1].env.KEY"] as const;
const [token, key] = paths.map((path) =>
  sealField(`value of ${path}`, path, from.exportSeed()),
) as [string, string];
const text = `# comment ${token}
telegram:
  bot_token: ${token} # stays
proxy:
  upstream_servers:
    - { name: a, command: x }
    - name: b
      command: y
      env: { KEY: '${key}', PLAIN: encrypted-not }
`;

describe("findEncryptedFields()", () => {
  it("finds them by path, in maps and lists", () => {
    expect([...findEncryptedFields(text)]).toEqual([
      [paths[0], token],
      [paths[1], key],
    ]);
  });
});

describe("openConfigField()", () => {
  it("opens an encrypted field at its own path only, and leaves plain text", () => {
    expect(openConfigField(token, paths[0], from)).toBe(`value of ${paths[0]}`);
    expect(() => openConfigField(token, paths[1], from)).toThrow(
      expect.objectContaining({ code: "vault_invalid" }),
    );
    expect(openConfigField("plain", paths[0], from)).toBe("plain");
  });
});

describe("resealFields()", () => {
  it("seals every field for the other key, keeps the rest, and may be done again", () => {
    const resealed = resealFields(text, from, to);
    for (const [path, sealed] of findEncryptedFields(resealed))
      expect(openConfigField(sealed, path, to)).toBe(`value of ${path}`);
    const strip = (each: string): string => each.replaceAll(/encrypted:[\w-]{30,}/g, "*");
    expect(strip(resealed)).toBe(strip(text));
    expect(resealFields(resealed, from, to)).toBe(resealed);
    expect(resealFields(text.replace(token, "x"), from, to)).not.toContain(token);
  });

  it("refuses a field that neither key opens, and one that is not in one piece", () => {
    expect(() => resealFields(`a: ${token}`, from, to)).toThrow(
      expect.objectContaining({ code: "vault_invalid" }),
    );
    const broken = `telegram:\n  bot_token: "${token.slice(0, 20)}\\\n    ${token.slice(20)}"\n`;
    expect(findEncryptedFields(broken).get(paths[0])).toBe(token);
    expect(() => resealFields(broken, from, to)).toThrow(
      expect.objectContaining({ code: "config_invalid" }),
    );
  });
});
