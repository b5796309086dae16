/**
 * The mark that makes plain data an Action: a private field of this module on the object itself, so
 * that it cannot be copied or forged. A WeakSet and a WeakMap keyed by actions would do the same;
 * under load they cost a third of the time in the garbage collector.
 */
import { PrivateFieldsOn } from "../private-fields.js";

class Mark extends PrivateFieldsOn {
  #digest: string | undefined = undefined;

  static isOn(value: object): boolean {
    return #digest in value;
  }

  static digestOf(value: object, compute: () => string): string | undefined {
    return #digest in value ? (value.#digest ??= compute()) : undefined;
  }
}

/** Marks and freezes an object as an Action. For its constructors alone. */
export function markAction(data: object): void {
  // Made for what constructing it does to its argument.
  void new Mark(data);
  Object.freeze(data);
}

/** Whether {@link markAction} marked this very object. */
export function isMarked(value: unknown): boolean {
  return typeof value === "object" && value !== null && Mark.isOn(value);
}

/** The digest of a marked object, computed once; `undefined` for any other value. */
export function markedDigest(value: object, compute: () => string): string | undefined {
  return Mark.digestOf(value, compute);
}
