/**
 * A virtual authenticator in a tab: passkeys that Chromium itself makes and asks for, without a
 * finger.
 */
import type { CDPSession, Page } from "playwright-core";

async function read(session: CDPSession, authenticatorId: string) {
  return (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
}

/** One passkey with its private key, so that another tab can have it too. */
export type VirtualCredential = Awaited<ReturnType<typeof read>>[number];

/** The passkeys of one tab. */
export interface Authenticator {
  /** Whether the finger is the owner's from now on. */
  setVerified(isUserVerified: boolean): Promise<void>;
  /** Whether the finger is there at all: without it the browser waits for it. */
  setPresence(enabled: boolean): Promise<void>;
  credentials(): Promise<readonly VirtualCredential[]>;
  add(credential: VirtualCredential): Promise<void>;
}

/** Gives a tab an authenticator as phones have one. */
export async function addAuthenticator(page: Page): Promise<Authenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    setVerified: async (isUserVerified) =>
      void (await session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified })),
    setPresence: async (enabled) =>
      void (await session.send("WebAuthn.setAutomaticPresenceSimulation", {
        authenticatorId,
        enabled,
      })),
    credentials: () => read(session, authenticatorId),
    add: async (credential) =>
      void (await session.send("WebAuthn.addCredential", { authenticatorId, credential })),
  };
}
