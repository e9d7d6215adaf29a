"""What people do with kr8s. Tells what it saw as JSON, for the test to judge."""

import asyncio
import json
import os

import httpx
import kr8s
from kr8s.asyncio.objects import ConfigMap, Deployment, Pod, new_class

ExchangeRate = new_class(
    kind="ExchangeRate",
    version="rates.example.com/v1",
    namespaced=True,
    plural="exchangerates",
    scalable=True,
    scalable_spec="replicas",
    asyncio=True,
)


def config_map(name, data, labels=None):
    return {"metadata": {"name": name, "namespace": "default", "labels": labels or {}}, "data": data}


async def connect():
    api = await kr8s.asyncio.api()
    kinds = {resource["kind"] for resource in await api.api_resources()}
    return {
        "version": (await api.version())["gitVersion"],
        "who": await api.whoami(),
        "kinds": sorted(kinds & {"Pod", "Deployment", "ExchangeRate"}),
        "versions": "rates.example.com/v1" in [version async for version in api.api_versions()],
    }


async def write_and_read():
    seen = {}
    settings = await ConfigMap(config_map("kr8s", {"a": "1"}))
    await settings.create()
    seen["created"] = await settings.exists()
    await settings.patch({"data": {"b": "2"}})
    await settings.patch([{"op": "replace", "path": "/data/a", "value": "3"}], type="json")
    await settings.label(tier="front")
    await settings.annotate({"example.com/note": "words"})
    again = await ConfigMap.get("kr8s", namespace="default")
    seen["data"] = dict(again.data)
    seen["labels"] = dict(again.labels)
    await settings.remove_label("tier")
    seen["found"] = [found.name async for found in kr8s.asyncio.get("configmaps", "kr8s", namespace="default")]
    try:
        await (await ConfigMap(config_map("kr8s", {}))).create()
    except kr8s.ServerError as error:
        seen["twice"] = [error.response.status_code, str(error)]
    await settings.delete()
    await settings.wait("delete", timeout=30)
    seen["gone"] = not await settings.exists()
    try:
        await ConfigMap.get("kr8s", namespace="default", timeout=1)
    except kr8s.NotFoundError:
        seen["missing"] = True
    return seen


async def pages():
    # It asks for a hundred at a time.
    await asyncio.gather(
        *[create(ConfigMap, config_map(f"page-{n:03}", {}, {"set": "pages"})) for n in range(120)]
    )
    found = [one.name async for one in kr8s.asyncio.get("configmaps", namespace="default", label_selector="set=pages")]
    return {"count": len(found), "sorted": found == sorted(found)}


async def create(kind, body):
    await (await kind(body)).create()


async def watch():
    events = []

    async def follow():
        selector = {"set": "watched"}
        async for event, one in kr8s.asyncio.watch("configmaps", namespace="default", label_selector=selector):
            events.append([event, one.name, dict(one.data)])
            if event == "DELETED":
                return

    watched = await ConfigMap(config_map("watched", {"n": "1"}, {"set": "watched"}))
    await watched.create()
    following = asyncio.create_task(follow())
    while not events:
        await asyncio.sleep(0.05)
    await watched.patch({"data": {"n": "2"}})
    await watched.delete()
    await asyncio.wait_for(following, 30)
    return events


async def custom_objects():
    rate = await ExchangeRate(
        {"metadata": {"name": "euro", "namespace": "default"}, "spec": {"currency": "EUR"}}
    )
    await rate.create()
    await rate.patch({"status": {"rate": 1.5}}, subresource="status")
    await rate.refresh()
    seen = {"spec": dict(rate.spec), "status": dict(rate.status)}
    await rate.scale(3)
    seen["replicas"] = rate.replicas
    try:
        await (await ExchangeRate({"metadata": {"name": "bad"}, "spec": {"currency": "euro"}})).create()
    except kr8s.ServerError as error:
        seen["refused"] = [error.response.status_code, str(error)]
    await rate.wait("jsonpath='{.status.rate}'=1.5", timeout=30)
    await rate.delete()
    return seen


async def workloads():
    labels = {"app": "web"}
    deployment = await Deployment(
        {
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "app:1"}]}},
            },
        }
    )
    await deployment.create()
    await deployment.wait("condition=Available", timeout=60)
    await deployment.scale(2)
    while not await deployment.ready():
        await asyncio.sleep(0.1)
    pods = await deployment.pods()
    await deployment.delete(propagation_policy="Foreground")
    await deployment.wait("delete", timeout=60)
    return {"pods": len(pods), "owners": sorted({pod.metadata.ownerReferences[0].kind for pod in pods})}


async def streams():
    command = [os.environ["NODE"], "-e", os.environ["PROGRAM"]]
    pod = await Pod(
        {
            "metadata": {"name": "main", "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": "program", "command": command}]},
        }
    )
    await pod.create()
    await pod.wait("condition=Ready", timeout=60)
    while "listening" not in (logs := [line async for line in pod.logs()]):
        await asyncio.sleep(0.1)
    ran = await pod.exec(["sh", "-c", "echo out; echo err >&2"])
    failed = await pod.exec(["sh", "-c", "exit 3"], check=False)
    forward = pod.portforward(remote_port=int(os.environ["PORT"]), local_port="auto")
    async with forward as port, httpx.AsyncClient() as http:
        answer = (await http.get(f"http://127.0.0.1:{port}/path")).text
    await pod.delete(grace_period=1)
    return {
        "logs": logs,
        "exec": [ran.stdout.decode(), ran.stderr.decode(), ran.returncode],
        "failed": failed.returncode,
        "answer": answer,
    }


async def main():
    steps = [connect, write_and_read, pages, watch, custom_objects, workloads, streams]
    print(json.dumps({step.__name__: await step() for step in steps}))


asyncio.run(main())
