"""Kopf in its fastest form.

Async handlers, uvloop, no scanning for kinds and namespaces, no Events, no log lines for objects, and its records in
the status, so that one PATCH carries everything. It brings no client: the child is applied over aiohttp, which it has
on board anyway.
"""

import base64
import json
import os
import ssl

import aiohttp
import kopf

CHILD = bool(os.environ.get("BENCH_CHILD"))
WIDGETS = ("bench.example.com", "v1", "widgets")


@kopf.on.startup()
async def configure(settings, memo, **_):
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.persistence.progress_storage = kopf.StatusProgressStorage()
    settings.persistence.diffbase_storage = kopf.StatusDiffBaseStorage()
    if CHILD:
        with open(os.environ["KUBECONFIG"]) as file:
            config = json.load(file)
        cluster = config["clusters"][0]["cluster"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        memo.session = aiohttp.ClientSession(
            cluster["server"],
            connector=aiohttp.TCPConnector(ssl=ssl.create_default_context(cadata=authority)),
            headers={
                "Authorization": f"Bearer {config['users'][0]['user']['token']}",
                "Content-Type": "application/apply-patch+yaml",
                "User-Agent": "kopf",
            },
        )


@kopf.on.cleanup()
async def close(memo, **_):
    if CHILD:
        await memo.session.close()


async def apply_child(session, name, namespace, size):
    child = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"size": str(size)},
    }
    kopf.append_owner_reference(child)
    path = f"/api/v1/namespaces/{namespace}/configmaps/{name}?fieldManager=kopf&force=true"
    async with session.patch(path, data=json.dumps(child)) as answer:
        answer.raise_for_status()
        await answer.read()


@kopf.on.create(*WIDGETS)
@kopf.on.update(*WIDGETS)
async def size(spec, name, namespace, patch, memo, **_):
    if CHILD:
        await apply_child(memo.session, name, namespace, spec["size"])
    patch.status["size"] = spec["size"]
