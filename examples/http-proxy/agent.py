# The same in Python: urllib finds the proxy in the environment. `python3 agent.py METHOD URL`
import sys
import urllib.error
import urllib.request

method, url = sys.argv[1:]
request = urllib.request.Request(url, method=method, data=b"item=umbrella" if method == "POST" else None)
try:
    answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    answer = error
print(answer.status, answer.read().decode())
