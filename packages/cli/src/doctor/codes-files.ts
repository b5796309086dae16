/**
 * Codes of the home, its files, keys, vault, passkeys and stores. Rows of the table in codes.ts.
 */

/** What can be wrong with files that are no logs. */
export const FILE_ROWS = {
  home_missing: {
    level: "error",
    why: "There is nothing to look at: no policy, no keys and no log.",
    command: "acp init --home PATH",
  },
  home_half_moved: {
    level: "error",
    why: "A restore or move was interrupted between two renames; the home is whole, beside its place.",
    command: "acp doctor --fix home_half_moved",
  },
  restore_left: {
    level: "warning",
    why: "A killed restore or move left a copy of the home, with its keys and logs.",
    command: "acp doctor --fix restore_left",
  },
  home_foreign: {
    level: "error",
    why: "A home serves its owner only, and root has no rights of its own in it.",
    command: "run acp as the owner, or name your own home: acp doctor --home DIR",
  },
  home_unreadable: {
    level: "error",
    why: "Nothing in it can be seen, which does not mean that nothing is there.",
    command: "ls -ld PATH",
  },
  home_link: {
    level: "error",
    why: "A link could lead to a place where others write.",
    command: "acp doctor --home DIRECTORY_ITSELF",
  },
  home_not_directory: {
    level: "error",
    why: "A home is a directory.",
    command: "acp doctor --home DIR",
  },
  home_open: {
    level: "error",
    why: "Whoever can write in the home can approve anything, so no gate starts.",
    command: "chmod 700 PATH",
  },
  home_replaceable: {
    level: "error",
    why: "Anyone could put another home in its place, so no gate starts.",
    command: "chmod o-w PATH",
  },
  folder_open: {
    level: "error",
    why: "Gates refuse a folder that other users can enter.",
    command: "chmod 700 PATH",
  },
  file_open: {
    level: "error",
    why: "Gates refuse a file that other users can read or write.",
    command: "chmod 600 PATH",
  },
  file_readable: {
    level: "warning",
    why: "Files of the home are their owner's alone.",
    command: "chmod 600 PATH",
  },
  file_unreadable: {
    level: "error",
    why: "Its owner may not read it, so nothing that needs it starts.",
    command: "chmod u+rw PATH",
  },
  file_foreign: {
    level: "error",
    why: "Somebody else can change it, so gates refuse it.",
    command: "sudo chown OWNER PATH",
  },
  file_link: {
    level: "error",
    why: "A link could lead to a place where others write, so gates refuse it.",
    command: "cp --remove-destination TARGET PATH",
  },
  file_second_name: {
    level: "error",
    why: "Whoever has the other name can change the log, so no gate opens it.",
    command: "find DIR -samefile PATH",
  },
  file_not_file: {
    level: "error",
    why: "Something else has the name of a file.",
    command: "mv PATH PATH.old",
  },
  temporary_left: {
    level: "warning",
    why: "A process that was killed while it wrote left it; nothing reads it.",
    command: "acp doctor --fix temporary_left",
  },
  keys_missing: {
    level: "warning",
    why: "Answers are not signed, and there is no vault.",
    command: "acp init",
  },
  key_lost: {
    level: "error",
    why: "Nothing opens the vault, and no gate starts.",
    command: "acp restore FILE",
  },
  key_broken: {
    level: "error",
    why: "No gate starts with keys that do not open.",
    command: "acp restore FILE",
  },
  key_rejected: {
    level: "error",
    why: "No gate starts with keys that do not open.",
    command: "name the right file with ACP_PASSPHRASE_FILE or ACP_KEY_FILE",
  },
  unlock_file_missing: {
    level: "error",
    why: "It opens the private key; without it no gate starts.",
    command: "name the file with ACP_KEY_FILE, or run: acp restore FILE",
  },
  unlock_file_unreadable: {
    level: "error",
    why: "It opens the private key; without it no gate starts.",
    command: "chmod 600 PATH",
  },
  passphrase_unknown: {
    level: "warning",
    why: "Keys and vault were not opened, so they were not examined.",
    command: "ACP_PASSPHRASE_FILE=FILE acp doctor",
  },
  keys_rolled_back: {
    level: "error",
    why: "Older keys may be those that somebody stole, so nobody is asked with them.",
    command: "put the newer keys/ back, or run: acp restore FILE",
  },
  keys_differ: {
    level: "error",
    why: "The private key is not the one in use, so nobody is asked with it.",
    command: "put the newer keys/ back, or run: acp restore FILE",
  },
  public_keys_broken: {
    level: "error",
    why: "Nobody is asked, and earlier signatures cannot be checked.",
    command: "write what acp keys export printed to PATH, or run: acp restore FILE",
  },
  checkpoint_key_missing: {
    level: "warning",
    why: "Logs are not signed, so a log that was cut cannot be told from a whole one.",
    command: "acp doctor --fix checkpoint_key_missing",
  },
  checkpoint_key_broken: {
    level: "error",
    why: "No gate can open a log.",
    command: "run acp restore FILE, or acp doctor --fix checkpoint_key_broken",
  },
  checkpoint_key_older: {
    level: "error",
    why: "A key that was replaced signs the logs again; somebody else may have it.",
    command: "put the newer file back, or run: acp keys rotate --checkpoint",
  },
  key_seams_broken: {
    level: "error",
    why: "What older checkpoint keys signed cannot be checked.",
    command: "acp restore FILE --to DIR, and copy PATH from there",
  },
  vault_missing: {
    level: "error",
    why: "No secret is released while the home has keys and no vault.",
    command: "run acp restore FILE, or acp init for an empty vault",
  },
  vault_broken: {
    level: "error",
    why: "No secret can be opened, so none is released.",
    command: "acp restore FILE",
  },
  vault_rolled_back: {
    level: "error",
    why: "An older vault may have secrets that were removed or replaced, so none is released.",
    command: "put the newer file back, or run: acp restore FILE",
  },
  record_key_broken: {
    level: "error",
    why: "No gate starts: it could not tell stored questions and grants from forged ones.",
    command: "acp doctor --fix record_key_broken",
  },
  passkeys_broken: {
    level: "error",
    why: "No approval that needs a passkey counts, and the inbox does not start.",
    command: "restore PATH from acp passkeys export, or acp doctor --fix passkeys_broken",
  },
  passkeys_rolled_back: {
    level: "error",
    why: "An older file may have passkeys that were revoked, so none of them counts.",
    command: "acp doctor --fix passkeys_rolled_back",
  },
  pins_rolled_back: {
    level: "error",
    why: "With older pins a changed tool could look new, so no server's tools are listed or called.",
    command: "acp doctor --fix pins_rolled_back",
  },
  pins_broken: {
    level: "error",
    why: "What changed cannot be told from what is new, so no server's tools (of a full file: no new server's) are listed or called.",
    command: "acp doctor --fix pins_broken",
  },
  passkeys_gone: {
    level: "warning",
    why: "No approval that needs a passkey counts until people create theirs again.",
    command: "acp restore FILE --to DIR, and look there; or acp inbox",
  },
  passkeys_none_active: {
    level: "warning",
    why: "Approving from a passkey level on is impossible until one is created.",
    command: "acp inbox",
  },
  grants_broken: {
    level: "error",
    why: "Calls that an earlier consent may cover are denied.",
    command: "acp doctor --fix grants_broken",
  },
  grants_rolled_back: {
    level: "error",
    why: "An older file may have grants that were revoked, so none of them counts.",
    command: "acp doctor --fix grants_rolled_back",
  },
  grants_ignored: {
    level: "warning",
    why: "Entries that are not grants count as absent.",
    command: "acp grants",
  },
  claims_broken: {
    level: "error",
    why: "What may happen once cannot be told from what happened, so every answer is refused.",
    command: "acp doctor --fix claims_broken",
  },
  claims_emptied: {
    level: "error",
    why: "An answer or a use that counted once could count again.",
    command: "acp doctor --fix claims_emptied",
  },
  pending_ignored: {
    level: "warning",
    why: "Such a line is given up when a gate starts: its question ends without an answer.",
    command: "acp pending",
  },
  policy_text_changed: {
    level: "warning",
    why: "It is not the policy that was in force, so acp why does not show it.",
    command: "acp doctor --fix policy_text_changed",
  },
  server_pin_broken: {
    level: "error",
    why: "Nobody can tell which packages the server is pinned to, so it does not start.",
    command: "acp servers remove NAME",
  },
  pending_broken: {
    level: "error",
    why: "No gate starts while it cannot read what an earlier one left open.",
    command: "acp doctor --fix pending_broken",
  },
  pause_broken: {
    level: "error",
    why: "A pause file that cannot be read means paused: every question is denied.",
    command: "acp pause --off",
  },
  agent_pause_broken: {
    level: "error",
    why: "An agent stays paused, and nothing says which.",
    command: "rm PATH",
  },
} as const;
