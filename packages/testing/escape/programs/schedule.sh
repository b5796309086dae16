# Asks somebody else to run it: schedule.sh TOKEN. Nothing is left behind where nobody takes it.
line="sleep 30 # $1"
if command -v systemd-run >/dev/null && systemd-run --user sh -c "$line" >/dev/null 2>&1; then way=systemd-run; fi
if command -v at >/dev/null && echo "$line" | at now >/dev/null 2>&1; then way=at; fi
if [ -n "${way-}" ]; then echo "{\"outcome\":\"escaped\",\"detail\":\"$way\"}"; else echo '{"outcome":"unavailable","detail":"nobody here runs things for others"}'; fi
