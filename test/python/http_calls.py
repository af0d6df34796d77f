"""
Sends HTTP requests through one Python library, one after the other, as its documentation shows. Reads
{"library", "origin", "calls"} from standard input; prints the array of replies.
"""
import gzip
import json
import sys
import urllib.error
import urllib.request


def by_urllib(origin, calls):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for call in calls:
        headers = {"Accept-Encoding": "gzip", **call["headers"]}
        data = None
        if "body" in call:
            headers["Content-Type"] = "application/json"
            data = json.dumps(call["body"]).encode()
        request = urllib.request.Request(origin + call["path"], data, headers, method=call["method"])
        try:
            opened = opener.open(request)
        except urllib.error.HTTPError as refused:
            opened = refused
        with opened as reply:
            body = reply.read()
            if reply.headers["Content-Encoding"] == "gzip":
                body = gzip.decompress(body)
            yield reply.code, reply.headers, body.decode()


def by_requests(origin, calls):
    import requests

    with requests.Session() as session:
        session.trust_env = False
        for call in calls:
            url = origin + call["path"]
            reply = session.request(call["method"], url, headers=call["headers"], json=call.get("body"))
            yield reply.status_code, reply.headers, reply.text


send = {"urllib": by_urllib, "requests": by_requests}
asked = json.load(sys.stdin)
replies = [
    {"status": status, "headers": {name.lower(): value for name, value in headers.items()}, "text": text}
    for status, headers, text in send[asked["library"]](asked["origin"], asked["calls"])
]
json.dump(replies, sys.stdout)
