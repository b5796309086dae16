# Asks the ways to more rights that a machine may have.
for way in "sudo -n true" "su -c true" "pkexec --disable-internal-agent true" "doas -n true"; do
  # shellcheck disable=SC2086
  if $way </dev/null >/dev/null 2>&1; then echo "{\"outcome\":\"escaped\",\"detail\":\"$way\"}" && exit; fi
done
echo '{"outcome":"unavailable","detail":"nobody here may become root without a password"}'
