/** Pagers and editors: a pager without commands of its own is a `cat`; an editor is never one. */
import { reviewed } from "../table.js";
import { versionRows } from "../shows-version.js";
import type { Binary, BinaryTable } from "../table.js";

const EDITS = "exec: is an editor, which changes files and runs programs";

export const pagersAndEditors: BinaryTable = {
  less: {
    takesCommands: true,
    flags:
      "-N,--LINE-NUMBERS -n,--line-numbers -R,--RAW-CONTROL-CHARS -r -S,--chop-long-lines -F,--quit-if-one-screen -X,--no-init -E -e -i,--ignore-case -I -m -M -q -Q -s -g -G -w -W -a -A -x:less-text -p:less-text",
    reviewFlags: {
      "-o,-O,--log-file,--LOG-FILE:path": "write: writes a file",
      "-k,--lesskey-file:path": "exec: reads commands for its keys",
      "--lesskey-src,--lesskey-content:text": "exec: reads commands for its keys",
      "-t,--tag:text": "read: looks a tag up in another file",
      "-T,--tag-file:path": "read: reads another file",
      "-P,--prompt:text": "exec: changes its prompt, which can run programs",
      "-f,--force": "read: opens what is no ordinary file",
    },
    operands: "viewed*",
    examples: {
      safe: [],
      review: [
        "less a.txt",
        "less -p 'x$oREADME' a",
        "less +x a",
        "less '+!id' a",
        "less -k x a",
        "less -ox a",
        "less --log-file=x a",
        "less /etc/passwd",
      ],
    },
  },
  more: {
    takesCommands: true,
    flags: "-d -l -f -e -p -c -s -u -n:number -#",
    alone: "-h -V",
    operands: "viewed*",
    examples: { safe: [], review: ["more a.txt", "more +/x a", "more /etc/passwd"] },
  },
  man: {
    takesCommands: true,
    reviewFlags: {
      "-P,--pager:text": "exec: runs the program it names",
      "-H,--html?:text": "exec: opens a browser",
      "-C,--config-file:path": "exec: reads other settings, which name programs",
      "-M,--manpath:path": "exec: reads pages of other people",
      "-p,--preprocessor:text": "exec: runs the programs it names",
      "-l,--local-file": "exec: formats a file that may be anything",
      "-X,--gxditview?:text": "exec: opens a program",
    },
    operands: "topic*",
    examples: {
      safe: [],
      review: [
        "man ls",
        "man -P id ls",
        "man -Pid ls",
        "man --pag=id ls",
        "man -Hx ls",
        "man -C x ls",
        "man ./x",
        "man -l x",
      ],
    },
  },
  whatis: {
    flags: "-r -w -d -v -l",
    operands: "topic+",
    examples: { safe: ["whatis ls"], review: ["whatis -C x ls"] },
  },
  apropos: {
    flags: "-e -r -w -a -l",
    operands: "topic+",
    examples: { safe: ["apropos sort"], review: ["apropos -C x ls"] },
  },
  info: reviewed("exec: is a reader that runs commands", "info ls"),
  most: reviewed("exec: is a pager that runs programs", "most a"),
  ...Object.fromEntries(
    [
      "vi",
      "vim",
      "nvim",
      "view",
      "nano",
      "pico",
      "emacs",
      "emacsclient",
      "hx",
      "helix",
      "micro",
      "kak",
      "joe",
      "code",
      "cursor",
      "subl",
      "gedit",
    ].map((name) => [name, editor(name)]),
  ),
  ed: reviewed(EDITS, "ed a"),
  red: reviewed(EDITS, "red a"),
  ex: reviewed(EDITS, "ex a", "ex +'!id'"),
  open: reviewed("exec: opens a program", "open a"),
  "xdg-open": reviewed("exec: opens a program", "xdg-open a"),
  tig: reviewed("exec: runs commands of its own", "tig"),
};

function editor(name: string): Binary {
  const rows = versionRows(name, ["--version"]);
  return {
    style: "first",
    review: EDITS,
    reviewFlags: {
      "-c,-e,-es": "exec: runs a command",
      "--cmd,--eval:text": "exec: runs a command",
      "-u,-S:text": "exec: reads commands from a file",
    },
    examples: {
      safe: rows.safe,
      review: [...rows.review, `${name} a`, `${name} +x a`, `${name} -c '!id' a`],
    },
  };
}
