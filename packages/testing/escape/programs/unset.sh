# Runs a program in an interpreter without the variables that were to steer it: unset.sh ADDRESS PORT TOKEN.
unset HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy LD_PRELOAD NODE_OPTIONS
export NO_PROXY='*' no_proxy='*'
exec "$(dirname "$0")/net" tcp "$@"
