/**
 * Look-alikes: letters of other scripts, and the ASCII character that each is taken for (UTS #39;
 * letters that NFKD or dropping marks turns into ASCII need no row). Case is gone from the target,
 * not from the letter: Greek "Ν" looks like "n", and "ν" like "v".
 */

const ROWS: readonly (readonly [ascii: string, letters: string])[] = [
  ["-", "‐‒–—⁃−⸚"],
  ["2", "ƧƻϨᒿꙄꝚ"],
  ["3", "ƷȜЗҘӠⳌꝪꞫ"],
  ["4", "Ꮞ"],
  ["5", "Ƽ"],
  ["6", "бᏮⳒ"],
  ["8", "Ȣȣ"],
  ["9", "ⳊꝮ"],
  ["a", "ɑΑαАаᎪᗅꓮ"],
  ["b", "ƀƂƃƄɓΒБВЬѢѣҌҍᏏᏴᖯᗷꓐꞴ"],
  ["c", "ȼΣςСсҪҫᏟᴄⲤⲥꓚꮯ𐐕𐐽"],
  ["d", "ÐĐđƉƌɖɗԁᎠᏧᑯᗞᗪꓒꓓ"],
  ["e", "ɆɇΕЕеҽҿᎬⴹꓰꬲ"],
  ["f", "ƑƒϜքᖴᵮẝꓝꞘꞙꬵ"],
  ["g", "ƍǤǥɠɡԌցᏀᏳᶃꓖ"],
  ["h", "ĦħɦΗНћҢһӇӉհᎻᏂᏲᕼⱧⲎꓧꚕ"],
  ["i", "ıɨɩɪΙιІіӏᎥᵻᵼⲒⵏꙇꭵ"],
  ["j", "ɈɉͿϳЈјᎫᒍꓙꞲ"],
  ["k", "ƙΚκкКҚҞᏦⱩⲔꓗꝀ"],
  ["l", "ŁłƖƗƚǀɫɭӀᏞᒪⳐꓡꓲ𐐛"],
  ["m", "ΜϺМӍᎷᗰⲘꓟ"],
  ["n", "ƝƞɳΝηոռᵰⲚꓠ"],
  ["o", "ØøƟɵΘΟθοσОоѲѳӨөՕօჿᎾᏫᴏᴑⲞⲟⴱⵁⵔꓳꝊꝋꬽꬾꭴꮎꮻ𐐄𐐬"],
  ["p", "ƥΡρРрᏢᑭᵽⲢⲣꓑ"],
  ["q", "ʠԛգզⵕ"],
  ["r", "ƦɍɼɽгғᎡᏒᖇᴦᵲⲅꓣꭇꭈꮁ"],
  ["s", "ƽʂЅѕՏᏕᏚᵴꓢꜱꮪ𐐠𐑈"],
  ["t", "ŦŧƭƮȾΤТҬᎢᵵⲦꓔ"],
  ["u", "ɄʋυՍսᏌᑌᴜᵾꓴꞟꭎꭒꮜ"],
  ["v", "νѴѵᏙᐯᴠⴸꓦꮩ"],
  ["w", "ɯѡѽԜԝաᎳᏔᴡꓪꝡꮃ"],
  ["x", "ΧХхҲᕁᕽⲬⵝꓫꞳ"],
  ["y", "ƴɎɏɣʏΥγУуҮүҰұყᎩᎽᶌỿⲨꓬꭚ"],
  ["z", "ƵƶȤȥʐΖᏃᴢᵶꓜꮓ"],
];
const ASCII_OF: ReadonlyMap<string, string> = new Map(
  ROWS.flatMap(([ascii, letters]) => Array.from(letters, (letter) => [letter, ascii] as const)),
);
const LETTERS = new RegExp(`[${ROWS.map(([, letters]) => letters).join("")}]`, "gu");

/** The text with every look-alike as the ASCII character that it is taken for; linear. */
export function replaceLookAlikes(text: string): string {
  return text.replace(LETTERS, (letter) => ASCII_OF.get(letter) ?? letter);
}
