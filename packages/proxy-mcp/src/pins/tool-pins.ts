/**
 * Tool pins: what a server says of itself is remembered from when it was first seen, and what
 * changed since is held back until a person has looked at it. Types, and the pin itself. Pure.
 * Format: spec/tool-pins.md. Vectors: spec/vectors/tool-pins.json.
 */
import { createHash } from "node:crypto";
import { canonicalJson } from "@acp/core";

/** What a text is of: a definition of a list, or what the server says about itself in `initialize`. */
export type PresentedKind = "tool" | "prompt" | "resource" | "template" | "instructions";

/** Something that a server presents and a model may read. */
export interface PresentedText {
  /** Which list has the definition; `"instructions"` where none has. */
  readonly kind: PresentedKind;
  /**
   * A tool's or prompt's name on its server; a resource's URI or a template, or their pin where they
   * have more than 256 characters; empty for instructions.
   */
  readonly name: string;
  /** Its {@link pinOf}. */
  readonly pin: string;
  /** The canonical JSON that the pin is of, so that a person can be shown what changed. */
  readonly text: string;
}

/** How a text compares with the one that was pinned: there was none, the same, or another one. */
export type PinState = "new" | "same" | "changed";

/** Remembers what servers present. */
export interface ToolPins {
  /**
   * Compares what a server presents with what is pinned, and pins what was never seen before it
   * resolves.
   *
   * @param server - Name of the server.
   * @returns One state for each text, in their order. Where it rejects, all of them are held back.
   */
  look(server: string, presented: readonly PresentedText[]): Promise<readonly PinState[]>;
}

/** What a pin is of, and the pin. */
export interface Pinned {
  /** `sha256:<hex>` of the text. */
  readonly pin: string;
  /** Canonical JSON of the value. */
  readonly text: string;
}

/**
 * Pins a value: SHA-256 over its canonical JSON. Of a tool that is its whole definition, so that
 * nothing which a model may read stands outside.
 *
 * @param value - A tool's definition as parsed, or the text of instructions.
 * @throws ConsentError `json_not_data`, `json_lone_surrogate`, `json_too_deep` or `json_too_large`
 *   for what has no canonical form: it cannot be pinned.
 */
export function pinOf(value: unknown): Pinned {
  const text = canonicalJson(value);
  return { pin: `sha256:${createHash("sha256").update(text).digest("hex")}`, text };
}
