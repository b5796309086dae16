"""The same in Python: direct.py VERB ADDRESS PORT TOKEN."""
import json
import socket
import sys
import urllib.request

verb, address, port, token = sys.argv[1:5]


def say(outcome, detail):
    print(json.dumps({"outcome": outcome, "detail": str(detail)}), flush=True)


def tcp():
    socket.create_connection((address, int(port)), 1).sendall(token.encode())


def urllib_without_proxy():
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(f"http://{address}:{port}/{token}", timeout=1).read()


try:
    {"tcp": tcp, "urllib": urllib_without_proxy}[verb]()
    say("tried", "sent")
except OSError as error:
    say("refused", error)
