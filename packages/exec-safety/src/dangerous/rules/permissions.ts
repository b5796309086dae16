/**
 * Permissions: what opens or takes over files of the system, a home, or a program's rights.
 */
import { hasFlag, operandsOf, someKind, type Call } from "../call.js";
import type { ProgramRule } from "../rule.js";
import { belowHome, kindOf, resolvePath } from "../site.js";

const isRecursive = (call: Call): boolean => hasFlag(call, "R", ["recursive"]);

/** The mode: the first argument that looks like one, since `-x` is a mode and `-R` an option. */
function modeOf({ args }: Call): string {
  return (
    args.find(
      ({ text }) =>
        /^[0-7]{3,5}$/.test(text) || /^[ugoa,rwxXstugo]*[-+=][-+=rwxXstugoa,]*$/.test(text),
    )?.text ?? ""
  );
}

/** `u+s`, `+s`, `u=rwxs`, `4755`: not `g+s`, which a folder that several share has. */
const isSetuid = (mode: string): boolean =>
  /^0*[4-7][0-7]{3}$/.test(mode) ||
  mode.split(",").some((part) => /^[goa]*[ua][ugoa]*[+=][rwxXt]*s|^[+=][rwxXt]*s/.test(part));

const isOpenToAll = (mode: string): boolean =>
  /[2367]$/.test(mode) || /(?:^|,)[ugoa]*[oa][ugoa]*[+=][rxXst]*w/.test(mode);

/** Targets behind the mode or the owner. */
function targetsOf(call: Call): ReturnType<typeof operandsOf> {
  const operands = operandsOf(call);
  const mode = call.name === "chmod" ? modeOf(call) : "";
  return mode.startsWith("-") ? operands : operands.slice(1);
}

/** Rules on permissions. */
export const PERMISSION_RULES: readonly ProgramRule[] = [
  {
    ruleId: "permissions.protected",
    programs: ["chmod", "chown", "chgrp", "setfacl", "xattr"],
    message:
      "It changes who may read, write or own the root, a home, the system or what is above the project",
    applies: (call) => {
      const targets = targetsOf(call);
      const kinds = new Set(targets.map(({ text }) => kindOf(text, call.site)));
      if (kinds.has("root") || kinds.has("system")) return true;
      if (isRecursive(call))
        return (
          kinds.has("home") ||
          targets.some(
            ({ text }) =>
              kindOf(text, call.site) === "project" &&
              resolvePath(text, call.site) !== call.site.project &&
              !text.endsWith("*"),
          )
        );
      return call.name === "chmod" && kinds.has("home") && isOpenToAll(modeOf(call));
    },
    dangerous: [
      "chmod -R 777 /",
      "chmod 777 /",
      "chmod -R 777 /usr",
      "chown -R nobody /etc",
      "chmod 777 /etc/passwd",
      "chown -R me:me ~",
      "chmod -R a+rwx $HOME",
      "chmod 000 /bin/ls",
      "chmod --recursive 777 /var",
      "chown root:root -R /home",
      "chgrp -R users /usr/lib",
      "chmod -R 777 /*",
      "chmod -R 777 ..",
      "chmod 777 ~",
    ],
    not: [
      "chmod +x script.sh",
      "chmod 644 config.json",
      "chmod -R 755 dist",
      "chown -R node:node .",
      "chmod 600 ~/.ssh/id_rsa",
      "chmod 700 ~/.ssh",
      "chmod -x a.sh",
      "chmod u+x,g-w a",
    ],
  },
  {
    ruleId: "permissions.setuid",
    programs: ["chmod", "install"],
    message: "It makes a program run with the rights of its owner, whoever starts it",
    applies: (call) =>
      call.name === "chmod"
        ? isSetuid(modeOf(call))
        : call.args.some(
            ({ text }, at) =>
              /^(?:-m)?[0]*[4-7][0-7]{3}$/.test(text) &&
              (text.startsWith("-m") || call.args[at - 1]?.text === "-m"),
          ),
    dangerous: [
      "chmod u+s ./shell",
      "chmod 4755 /tmp/sh",
      "chmod +s a.out",
      "chmod 6755 x",
      "chmod u+xs x",
      "chmod 04755 x",
      "install -m 4755 a b",
      "chmod a+s x",
      "chmod u=rwxs x",
      "chmod g+w,u+s x",
    ],
    not: [
      "chmod 0755 x",
      "chmod 1777 tmp",
      "chmod g+s shared",
      "chmod 2775 shared",
      "chmod u+x x",
      "chmod u-s x",
      "install -m 0755 a b",
    ],
  },
  {
    ruleId: "permissions.open-keys",
    programs: ["chmod"],
    message: "It lets everybody read or write keys",
    applies: (call) =>
      /[4-7]$|[oa]\+[wx]*r/.test(modeOf(call)) &&
      !modeOf(call).endsWith("00") &&
      targetsOf(call).some(({ text }) =>
        /^\.(?:ssh|gnupg|aws)(?:$|\/(?!.*\.pub$|known_hosts|config))/.test(
          belowHome(resolvePath(text, call.site) ?? "", call.site) ?? "",
        ),
      ),
    dangerous: ["chmod 777 ~/.ssh", "chmod 644 ~/.ssh/id_rsa", "chmod -R 777 ~/.gnupg"],
    not: ["chmod 600 ~/.ssh/id_rsa", "chmod 644 ~/.ssh/id_rsa.pub", "chmod 700 ~/.ssh"],
  },
  {
    ruleId: "permissions.capability",
    programs: ["setcap"],
    message: "It gives a program rights of the administrator",
    applies: (call) => operandsOf(call).length > 0 && !hasFlag(call, "rv"),
    dangerous: ["setcap cap_setuid+ep ./python", "setcap cap_net_raw=eip /usr/bin/x"],
    not: ["setcap -r ./x", "getcap ./x"],
  },
  {
    ruleId: "permissions.attributes",
    programs: ["chattr", "chflags"],
    message: "It locks files against change, or unlocks those that the system has locked",
    applies: (call) =>
      call.args.some(({ text }) => /^[-+=][A-Za-z]*[iau]/.test(text) && text !== "-f") ||
      (call.name === "chflags" &&
        someKind(call, operandsOf(call).slice(1), ["root", "home", "system", "outside"])),
    dangerous: [
      "chattr -i /etc/passwd",
      "chattr +i /home/alice/.ssh/authorized_keys",
      "chattr -R -ia /etc",
    ],
    not: ["lsattr .", "chattr +C data"],
  },
];
