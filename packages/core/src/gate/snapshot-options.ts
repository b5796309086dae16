/**
 * Options of a gate as it was made with them: lists and plain values are copied, so that nobody
 * changes a running gate's people, groups or judges; whatever a part answers with is bounded where
 * it enters.
 */
import { ConsentError } from "../errors.js";
import { boundedList, boundedText, isObject, ownValue } from "../json/own.js";
import type { Layer } from "../layers.js";
import { APPROVERS_MAX, ID_CHARS_MAX, NAME_CHARS_MAX } from "../limits.js";
import type { Assessor } from "../ports.js";
import { quote } from "@acp/exec-safety/text";
import type { Approver, GateOptions } from "./consent-gate.js";
import { messageOf } from "./deny.js";
import type { IdPrefix, Ids } from "../types/clock.js";

const nameIn = (object: object, key: string, path: string): string =>
  boundedText(ownValue(object, key), { path: `${path}.${key}`, charsMax: NAME_CHARS_MAX });

function copyApprovers(given: unknown): readonly Approver[] {
  return boundedList(given, { path: "approvers", itemsMax: APPROVERS_MAX }).map((each, at) => {
    const path = `approvers[${at}]`;
    const approver = isObject(each) ? each : {};
    return {
      id: nameIn(approver, "id", path),
      channel: nameIn(approver, "channel", path),
      subject: nameIn(approver, "subject", path),
    };
  });
}

function copyGroups(given: unknown): Readonly<Record<string, readonly string[]>> {
  if (!isObject(given)) throw new TypeError('"groups" is not an object');
  const groups = Object.getOwnPropertyNames(given).map((name) => {
    const path = `groups.${quote(name)}`;
    const members = boundedList(ownValue(given, name), { path, itemsMax: APPROVERS_MAX });
    return [
      name,
      Object.freeze(
        members.map((id, at) =>
          boundedText(id, { path: `${path}[${at}]`, charsMax: NAME_CHARS_MAX }),
        ),
      ),
    ] as const;
  });
  return Object.freeze(Object.fromEntries(groups));
}

/** A judge keeps the name that it had. */
const copyLayer = (layer: Layer): Layer => ({
  name: boundedText(layer.name, { path: "layers[].name", charsMax: NAME_CHARS_MAX }),
  ...(layer.onlyRestricts === true && { onlyRestricts: true }),
  judge: (action, facts) => layer.judge(action, facts),
});

const copyAssessor = (assessor: Assessor): Assessor => ({
  name: boundedText(assessor.name, { path: "assessors[].name", charsMax: NAME_CHARS_MAX }),
  assess: (...judged) => assessor.assess(...judged),
});

const ID = /^[\x21-\x7e]+$/;

/**
 * Ids end in files, in the log and in the names of keys: what is none stops what it was asked for.
 */
export function boundedIds(ids: Ids): Ids {
  return {
    next(prefix: IdPrefix): string {
      const id = boundedText(ids.next(prefix), { path: "ids.next()", charsMax: ID_CHARS_MAX });
      if (!ID.test(id))
        throw new ConsentError(
          "json_not_data",
          'Cannot read "ids.next()": it is not made of visible ASCII characters',
        );
      return id;
    },
  };
}

/**
 * The options, copied.
 *
 * @throws ConsentError `options_invalid`.
 */
export function snapshotOptions(given: GateOptions): GateOptions {
  try {
    const {
      approvers,
      groups,
      layers,
      channels,
      assessors,
      verifiers,
      promptLimit,
      isolation,
      ids,
    } = given;
    return {
      ...given,
      ...(approvers === undefined ? {} : { approvers: copyApprovers(approvers) }),
      ...(groups === undefined ? {} : { groups: copyGroups(groups) }),
      ...(layers === undefined ? {} : { layers: layers.map(copyLayer) }),
      ...(channels === undefined ? {} : { channels: [...channels] }),
      ...(assessors === undefined ? {} : { assessors: assessors.map(copyAssessor) }),
      ...(verifiers === undefined ? {} : { verifiers: [...verifiers] }),
      ...(promptLimit === undefined
        ? {}
        : { promptLimit: promptLimit === "none" ? promptLimit : { ...promptLimit } }),
      ...(isolation === undefined
        ? {}
        : { isolation: boundedText(isolation, { path: "isolation", charsMax: NAME_CHARS_MAX }) }),
      ...(ids === undefined ? {} : { ids: boundedIds(ids) }),
    };
  } catch (error) {
    throw new ConsentError("options_invalid", `Cannot create a gate: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
