/** A proxy, a host and clients that a test file leaves behind in order. */
import { onTestFinished } from "vitest";
import { type Proxied, proxied } from "./proxied.js";
import { type RawClient, rawClient, type RawHost, rawHost, type Recorded } from "./raw.js";

export interface Started extends Proxied {
  readonly host: RawHost;
}

export interface StartOptions {
  readonly onData?: (connection: Recorded) => void;
  /** Whether the host keeps its side open when the other one ended. */
  readonly isPatient?: boolean;
  readonly proxy?: Parameters<typeof proxied>[0];
  readonly policy?: object;
}

/** Runs after the test, the last one first. */
export function later(close: () => unknown): void {
  onTestFinished(async () => void (await close()));
}

export async function start({
  onData,
  isPatient,
  proxy: options,
  policy,
}: StartOptions = {}): Promise<Started> {
  const host = await rawHost(onData, isPatient);
  const proxy = await proxied(options, policy);
  later(() => host.close());
  later(() => proxy.proxy.close());
  return { ...proxy, host };
}

export async function client(port: number): Promise<RawClient> {
  const raw = await rawClient(port);
  later(() => raw.destroy());
  return raw;
}

/** The error of a refusal. */
export function errorOf(text: string): Record<string, unknown> {
  const body = text.slice(text.indexOf("\r\n\r\n") + 4);
  return (JSON.parse(body) as { error: Record<string, unknown> }).error;
}
