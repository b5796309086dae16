/**
 * Keys: what the data of a button stands for. The data is random, made for one button of one
 * message, and means nothing once its question is over or its message has the button no more.
 */
import { randomBytes } from "node:crypto";
import { type JsonObject, canonicalJson } from "@acp/core";
import type { Act, Key, Sheet } from "./sheet.js";

/** Random bytes of a button's data; base64url makes 22 characters of them. */
const DATA_BYTES = 16;

/** A button that is in the chat. */
export interface Button {
  readonly sheet: Sheet;
  readonly act: Act;
  /** Whose tap on it was taken: it works once for everybody. */
  readonly usedBy: Set<string>;
}

/** The buttons that mean something. */
export interface Keys {
  /**
   * Makes the buttons of a sheet, the `reply_markup`; a button that it has already stays the same.
   */
  issue(sheet: Sheet, rows: readonly (readonly Key[])[]): JsonObject;
  find(data: string): Button | undefined;
  /** Takes the meaning from the buttons of a sheet. */
  revoke(sheet: Sheet): void;
}

/** No buttons yet. */
export function createKeys(): Keys {
  const buttons = new Map<string, Button>();
  /** The data of each sheet's buttons, by what they do. */
  const issued = new Map<Sheet, ReadonlyMap<string, string>>();

  return {
    find: (data) => buttons.get(data),
    revoke(sheet) {
      for (const data of issued.get(sheet)?.values() ?? []) buttons.delete(data);
      issued.delete(sheet);
    },
    issue(sheet, rows) {
      const before = issued.get(sheet) ?? new Map<string, string>();
      const now = new Map<string, string>();
      const button = ({ label, act }: Key): JsonObject => {
        const name = canonicalJson({ ...act });
        const data = before.get(name) ?? `v1:${randomBytes(DATA_BYTES).toString("base64url")}`;
        now.set(name, data);
        if (!buttons.has(data)) buttons.set(data, { sheet, act, usedBy: new Set() });
        return { text: label, callback_data: data };
      };
      const keyboard = rows.map((row) => row.map(button));
      for (const [name, data] of before) if (!now.has(name)) buttons.delete(data);
      issued.set(sheet, now);
      return { inline_keyboard: keyboard };
    },
  };
}
