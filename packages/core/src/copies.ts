/**
 * Copies: two copies of this package in one process do not know each other's objects, and must not.
 * A label on what is made says so where it would otherwise look like a mistake of the caller. A
 * label grants nothing: anybody can write one.
 */

/** What is labelled. */
export type Kind = "permit" | "release" | "policy" | "signer" | "vault" | "composite channel";

const LABEL = Symbol.for("@acp/core/made");
/** This copy, by identity. */
const COPY = Object.freeze({});

interface Label {
  readonly kind: Kind;
  readonly copy: object;
}

const isLabel = (value: unknown): value is Label =>
  typeof value === "object" && value !== null && "kind" in value && "copy" in value;

/** Labels an object that this copy makes. */
export function labelKind(made: object, kind: Kind): void {
  const label: Label = Object.freeze({ kind, copy: COPY });
  Object.defineProperty(made, LABEL, { value: label });
}

/** Whether an object has the label of another copy. */
export function isFromAnotherCopy(value: unknown, kind: Kind): boolean {
  const label: unknown =
    typeof value === "object" && value !== null ? Reflect.get(value, LABEL) : undefined;
  return isLabel(label) && label.kind === kind && label.copy !== COPY;
}

/**
 * Whether something that this copy did not make has all looks of another copy's Action. Actions
 * carry no label: there are too many of them.
 */
export function looksLikeAction(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !Object.isFrozen(value) || !("meta" in value))
    return false;
  const { meta } = value;
  return (
    typeof meta === "object" &&
    meta !== null &&
    Object.isFrozen(meta) &&
    "kind" in meta &&
    "name" in value
  );
}

/** What to do about it, as the end of a message. */
export const OTHER_COPY =
  "it was made by another copy of @acp/core; install only one (npm ls @acp/core)";
