/**
 * Scripts of host names: which labels mix scripts, and which are written with other letters than
 * they look like (UTS #39). Hosts come normalised: lower case, A-labels, so full-width and
 * mathematical letters are plain ones already.
 */
import { decodePunycode } from "../../action/punycode.js";
import { escapeText } from "@acp/exec-safety/text";

const SCRIPTS: readonly (readonly [name: string, has: RegExp])[] = (
  "Latin Greek Cyrillic Armenian Hebrew Arabic Devanagari Thai Georgian Cherokee Coptic Lisu " +
  "Han Hiragana Katakana Hangul Bopomofo Canadian_Aboriginal"
)
  .split(" ")
  .map((name) => [name, new RegExp(`\\p{Script=${name}}`, "u")]);
const LETTER = /[\p{L}\p{M}]/gu;
/** Scripts that are written together. */
const TOGETHER: readonly RegExp[] = [
  /^(?:Latin )?(?:Han ?)?(?:Hiragana ?)?(?:Katakana ?)?$/,
  /^(?:Latin )?(?:Han ?)?(?:Hangul ?)?$/,
  /^(?:Latin )?(?:Han ?)?(?:Bopomofo ?)?$/,
];
/**
 * Letters and the ASCII character each looks like, by the Unicode table: those that stand in host
 * names and in one script's run with others.
 */
const LOOKALIKES: string =
  "аaсcԁdеeҽeһhіiꙇiӏlјjоoрpԛqгrѕsѵvѡwԝwхxуyүyб6" +
  "αaιiοoσoρpυuνvγy" +
  "քfցgհhոnռnօoգqզqսuաw" +
  "ɑaᴄcꞙfɡgᶃgıiɪiɩiǀlᴏoᴑoꭇrꭈrꜱsƽsꞟuᴜuꭎuꭒuʋuᴠvɯwᴡwɣyᶌyʏyỿyꭚyᴢzȣ8" +
  "ꓮaꓐbꓚcꓒdꓓdꓰeꓝfꓖgꓧhꓙjꓗkꓲlꓡlꓟmꓠnꓳoꓑpꓣrꓢsꓔtꓴuꓦvꓪwꓫxꓬyꓜz" +
  "ꮯcꭵiꮁrꮪsꮩvꮃwꮓzⲥcⲟoⲣpⲅrჿoყy" +
  "ᗅaᖯbᗷbᑯdᗞdᗪdᖴfᕼhᒍjᒪlᗰmᑭpᖇrᑌuᐯvᒿ2";
const ASCII_OF: ReadonlyMap<string, string> = new Map(
  Array.from({ length: LOOKALIKES.length / 2 }, (_, at) => [
    LOOKALIKES.charAt(at * 2),
    LOOKALIKES.charAt(at * 2 + 1),
  ]),
);
const ASCII = /^[ -~]+$/;

/** A host as a person reads it. */
export interface HostView {
  /** With U-labels, escaped. */
  readonly shown: string;
  /** What a label of it can be taken for, or mixes; empty where there is nothing to say. */
  readonly flags: readonly string[];
}

/** How a normalised host looks; `undefined` where it looks as it is written. */
export function viewHost(host: string): HostView | undefined {
  if (!host.includes("xn--")) return undefined;
  const labels = host
    .split(".")
    .map((label) => (label.startsWith("xn--") ? (decodePunycode(label.slice(4)) ?? label) : label));
  return { shown: escapeText(labels.join(".")), flags: labels.flatMap(flagLabel) };
}

function flagLabel(label: string): readonly string[] {
  if (ASCII.test(label)) return [];
  const found = scriptsOf(label);
  const mixed = found.length > 1 && !TOGETHER.some((together) => together.test(found.join(" ")));
  const ascii = Array.from(label, (letter) => ASCII_OF.get(letter) ?? letter).join("");
  return [
    ...(mixed ? [`"${escapeText(label)}" mixes ${found.join(" and ")} letters`] : []),
    ...(ASCII.test(ascii) ? [`"${escapeText(label)}" looks like "${ascii}"`] : []),
  ];
}

/** Names of the scripts of a label's letters, in the order of the table. */
function scriptsOf(label: string): readonly string[] {
  const letters = label.match(LETTER) ?? [];
  const found = SCRIPTS.filter(([, has]) => has.test(label));
  const others = letters.some(
    (letter) =>
      !found.some(([, has]) => has.test(letter)) &&
      !/[\p{Script=Common}\p{Script=Inherited}]/u.test(letter),
  );
  return [...found.map(([name]) => name.replace("_", " ")), ...(others ? ["other"] : [])];
}
