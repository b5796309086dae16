/**
 * "@acp/proxy-mcp/oauth": signing in to servers at an address, renewing and revoking their tokens.
 * Loaded when one of them is done. What crosses is data, never an object of a class: a program that
 * is one file has a core of its own.
 */
export type { ClientMethod, Grant } from "./remote/oauth/grant.js";
export type { GuardOptions, Resolve } from "./remote/oauth/guarded-fetch.js";
export { renew, revoke } from "./remote/oauth/renew.js";
export { signIn } from "./remote/oauth/sign-in.js";
export type { KnownClient, SignInParts, SignInShown } from "./remote/oauth/sign-in.js";
