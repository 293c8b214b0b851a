"""What the local Hub answers: one function for each endpoint."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any
from urllib.parse import parse_qs

import yaml

from tests.helpers.hub.server import USERS, Answer, Hub, Request, route
from tests.helpers.hub.store import Commit, File, Refused, Repository, tree, upload_mode


def _json(content: Any, status: int = 200) -> Answer:
    return Answer(status, json.dumps(content).encode(), {"Content-Type": "application/json"})


def _user(request: Request) -> tuple[str, str] | None:
    """The name and role behind a request; None where it has no token.

    Raises:
        Refused: for a token that is none.
    """
    if request.token is None:
        return None
    if request.token not in USERS:
        raise Refused(401, "", "Invalid credentials in Authorization header")
    return USERS[request.token]


def _repository(hub: Hub, request: Request, name: str) -> Repository:
    """What the request may see; what is private and what is not there look the same."""
    user = _user(request)
    found = hub.store.repositories.get(name)
    if found is None or (found.private and (user is None or user[0] != name.partition("/")[0])):
        raise Refused(401 if user is None else 404, "RepoNotFound", "Repository not found")
    return found


def _check_may_write(request: Request, owner: str) -> None:
    user = _user(request)
    if user is None:
        raise Refused(401, "", "You must be logged in")
    if user[1] != "write" or user[0] != owner:
        raise Refused(403, "", f"You don't have the rights to write into the namespace {owner}")


def _writable(hub: Hub, request: Request, name: str) -> Repository:
    found = _repository(hub, request, name)
    _check_may_write(request, name.partition("/")[0])
    return found


@route("GET", "/api/whoami-v2")
def whoami(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    user = _user(request)
    if user is None:
        raise Refused(401, "", "Invalid username or password.")
    token = {"accessToken": {"displayName": "test", "role": user[1]}}
    return _json({"type": "user", "name": user[0], "orgs": [], "auth": {"type": "access_token", **token}})


@route("GET", "/api/agent-harnesses")
def agent_harnesses(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    return _json({"error": "Not Found"}, 404)


@route("POST", "/api/validate-yaml")
def validate_yaml(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    try:
        head = _head(request.json()["content"])
    except yaml.YAMLError as error:
        return _json({"errors": [{"message": str(error)}], "warnings": []}, 400)
    warnings = [] if head else [{"message": "empty or missing yaml metadata in repo card"}]
    return _json({"errors": [], "warnings": warnings})


@route("POST", "/api/repos/create")
def create(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    wanted = request.json()
    user = _user(request)
    owner = wanted.get("organization") or (user[0] if user else "")
    _check_may_write(request, owner)
    name = f"{owner}/{wanted['name']}"
    url = {"url": f"{hub.url}/datasets/{name}", "name": name}
    try:
        hub.store.create(name, private=wanted.get("visibility") == "private" or bool(wanted.get("private")))
    except Refused as error:
        return _json({"error": str(error), **url}, error.status)
    return _json(url)


@route("DELETE", "/api/repos/delete")
def delete(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    wanted = request.json()
    name = f"{wanted['organization']}/{wanted['name']}"
    _writable(hub, request, name)
    hub.store.delete(name)
    return Answer()


@route("GET", "/api/datasets")
def list_all(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    owner = request.query.get("author", [""])[0]
    found = []
    for name, repository in hub.store.repositories.items():
        if name.startswith(f"{owner}/") and not repository.private:
            card = repository.commits[repository.head].files.get("README.md")
            head = _head(hub.store.blob(card).read_text()) if card else {}
            found.append({"id": name, "sha": repository.head, "private": False, "tags": [], "cardData": head})
    return _json(found)


def _head(card: str) -> Any:
    return yaml.safe_load(card.partition("---\n")[2].partition("\n---\n")[0])


@route("GET", "/api/datasets/{repo}")
@route("GET", "/api/datasets/{repo}/revision/{rev}")
def info(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    repository = _repository(hub, request, parts["repo"])
    commit = repository.find(parts.get("rev", "main"))
    siblings: list[dict[str, Any]] = [{"rfilename": path} for path in commit.files]
    if "blobs" in request.query:
        for sibling, file in zip(siblings, commit.files.values(), strict=True):
            large = {"lfs": {"sha256": file.sha256, "size": file.size, "pointerSize": 134}} if file.sha256 else {}
            sibling |= {"size": file.size, "blobId": file.oid, **large}
    own = {"id": repository.name, "sha": commit.oid, "private": repository.private, "gated": False, "tags": []}
    return _json({**own, "disabled": False, "downloads": 0, "likes": 0, "siblings": siblings})


@route("GET", "/api/datasets/{repo}/refs")
def refs(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    repository = _repository(hub, request, parts["repo"])
    tags = [{"name": t, "ref": f"refs/tags/{t}", "targetCommit": oid} for t, oid in repository.tags.items()]
    listed: dict[str, list[dict[str, str]]] = {"branches": [], "pullRequests": []}
    for name, oid in {"main": repository.head, **repository.branches}.items():
        is_pull_request = name.startswith("refs/pr/")
        ref = {"name": name, "ref": name if is_pull_request else f"refs/heads/{name}", "targetCommit": oid}
        listed["pullRequests" if is_pull_request else "branches"].append(ref)
    return _json({"tags": tags, "converts": [], **listed})


@route("DELETE", "/api/datasets/{repo}/branch/{rev}")
def delete_branch(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    hub.store.delete_branch(_writable(hub, request, parts["repo"]), parts["rev"])
    return Answer()


@route("GET", "/api/datasets/{repo}/commits/{rev}")
def commits(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    repository = _repository(hub, request, parts["repo"])
    own = {"message": "", "date": "2026-01-01T00:00:00.000Z", "authors": [{"user": "vttdata"}]}
    return _json([{"id": commit.oid, "title": commit.title, **own} for commit in repository.history()])


@route("POST", "/api/datasets/{repo}/tag/{rev}")
def tag(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    hub.store.tag(_writable(hub, request, parts["repo"]), request.json()["tag"], parts["rev"])
    return Answer()


@route("DELETE", "/api/datasets/{repo}/tag/{rev}")
def delete_tag(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    hub.store.delete_tag(_writable(hub, request, parts["repo"]), parts["rev"])
    return Answer()


@route("POST", "/api/datasets/{repo}/super-squash/{rev}")
def super_squash(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    hub.store.squash(_writable(hub, request, parts["repo"]), request.json()["message"])
    return Answer()


@route("GET", "/api/datasets/{repo}/lfs-files")
def lfs_files(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    repository = _writable(hub, request, parts["repo"])
    own = {"pushedAt": "2026-01-01T00:00:00.000Z", "ref": None}
    large = [(path, file) for path, file in hub.store.large_files(repository) if hub.store.has(file.sha256 or "")]
    return _json(
        [
            {"fileOid": file.sha256, "oid": file.sha256, "filename": path, "size": file.size, **own}
            for path, file in large
        ]
    )


@route("POST", "/api/datasets/{repo}/lfs-files/batch")
def delete_lfs_files(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    hub.store.delete_large(_writable(hub, request, parts["repo"]), request.json()["deletions"]["sha"])
    return Answer()


@route("GET", "/api/datasets/{repo}/tree/{rev}(?:/{path})?")
def list_tree(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    commit = _repository(hub, request, parts["repo"]).find(parts["rev"])
    recursive = request.query.get("recursive", ["false"])[0].lower() == "true"
    return _json(tree(commit.files, parts["path"], recursive=recursive))


@route("POST", "/api/datasets/{repo}/paths-info/{rev}")
def paths_info(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    commit = _repository(hub, request, parts["repo"]).find(parts["rev"])
    is_form = "form" in request.headers.get("content-type", "")
    wanted_paths = parse_qs(request.body.decode())["paths"] if is_form else request.json()["paths"]
    entries = tree(commit.files, "", recursive=True)
    return _json([entry for entry in entries if entry["path"] in wanted_paths])


@route("POST", "/api/datasets/{repo}/preupload/{rev}")
def preupload(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    commit = _writable(hub, request, parts["repo"]).find(parts["rev"])
    answers = []
    for wanted in request.json()["files"]:
        existing = commit.files.get(wanted["path"])
        oid = {"oid": existing.sha256 or existing.oid} if existing else {}
        mode = upload_mode(wanted["path"], wanted["size"])
        answers.append({"path": wanted["path"], "uploadMode": mode, "shouldIgnore": False, **oid})
    return _json({"files": answers})


@route("POST", "/datasets/{repo}.git/info/lfs/objects/batch")
def lfs_batch(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    _writable(hub, request, parts["repo"])
    objects = []
    for wanted in request.json()["objects"]:
        upload = {"href": f"{hub.storage}/storage/{wanted['oid']}", "header": {}}
        verify = {"href": f"{hub.url}/datasets/{parts['repo']}.git/info/lfs/verify", "header": {}}
        missing = {} if hub.store.has(wanted["oid"]) else {"actions": {"upload": upload, "verify": verify}}
        objects.append({"oid": wanted["oid"], "size": wanted["size"], **missing})
    return _json({"transfer": "basic", "objects": objects})


@route("PUT", "/storage/{path}")
def put_large(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    hub.store.keep_large(parts["path"], request.body)
    return Answer(headers={"ETag": f'"{parts["path"]}"'})


@route("POST", "/datasets/{repo}.git/info/lfs/verify")
def verify(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    _writable(hub, request, parts["repo"])
    if not hub.store.has(request.json()["oid"]):
        raise Refused(404, "", "The object was not uploaded")
    return Answer()


@route("POST", "/api/datasets/{repo}/commit/{rev}")
def commit(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    repository = _writable(hub, request, parts["repo"])
    head, *operations = (json.loads(line) for line in request.body.splitlines())
    decoded = [(own["key"], _decoded(own["value"])) for own in operations]
    own = head["value"]
    made = hub.store.commit(repository, own["summary"], decoded, own.get("parentCommit"))
    url = f"{hub.url}/datasets/{repository.name}/commit/{made.oid}"
    return _json({"commitUrl": url, "commitOid": made.oid, "success": True})


def _decoded(value: dict[str, Any]) -> dict[str, Any]:
    return value | ({"content": base64.b64decode(value["content"])} if "content" in value else {})


@route("GET", "/datasets/{repo}/resolve/{rev}/{path}")
def resolve(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    commit = _repository(hub, request, parts["repo"]).find(parts["rev"])
    file = commit.files.get(parts["path"])
    if file is None:
        return _missing_entry(commit, parts["path"])
    headers = {"X-Repo-Commit": commit.oid, "Accept-Ranges": "bytes", "ETag": f'"{file.oid}"'}
    if file.sha256 is None:
        return Answer(headers=headers, file=hub.store.blob(file))
    linked = {"X-Linked-Size": str(file.size), "X-Linked-Etag": f'"{file.sha256}"'}
    return Answer(302, headers=headers | linked | {"Location": f"{hub.storage}/storage/{file.sha256}"})


def _missing_entry(commit: Commit, path: str) -> Answer:
    headers = {"X-Repo-Commit": commit.oid, "X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"}
    etag = hashlib.sha1(path.encode()).hexdigest()
    return Answer(404, b"Entry not found", headers | {"ETag": f'"{etag}"'})


@route("GET", "/storage/{path}")
def get_large(hub: Hub, request: Request, parts: dict[str, str]) -> Answer:
    file = hub.store.blob(File("", 0, parts["path"]))
    return Answer(headers={"ETag": f'"{parts["path"]}"', "Accept-Ranges": "bytes"}, file=file)
