"""An operator in Kopf with what Kopf offers: handlers of changes, fields, deletion, an index, a daemon, and events."""

import asyncio

import kopf

KIND = ("rates.example.com", "v1", "exchangerates")


@kopf.on.startup()
async def configure(settings, **_):
    settings.posting.enabled = True
    settings.persistence.finalizer = "rates.example.com/kopf"


@kopf.index("configmaps", labels={"rates": "yes"})
async def known(name, body, **_):
    return {name: body.get("data", {}).get("rate")}


@kopf.on.create(*KIND)
async def create(spec, patch, body, retry, known, **_):
    if retry == 0:
        raise kopf.TemporaryError("not yet", delay=0.1)
    patch.status["rate"] = float(next(iter(known.get("table", ["0"]))))
    kopf.info(body, reason="Rated", message=f"{spec['currency']} has a rate")


@kopf.on.field(*KIND, field="spec.currency")
async def changed(old, new, patch, **_):
    patch.metadata.annotations["example.com/changed"] = f"{old} to {new}"


@kopf.on.delete(*KIND)
async def delete(name, namespace, **_):
    await asyncio.sleep(0)


@kopf.daemon(*KIND)
async def begin(patch, **_):
    # Kopf writes what a daemon patches when the daemon ends.
    patch.metadata.annotations["example.com/daemon"] = "seen"


@kopf.daemon(*KIND, cancellation_timeout=5)
async def stay(stopped, **_):
    await stopped.wait()


@kopf.timer(*KIND, interval=0.5, initial_delay=0.1)
async def count(status, patch, **_):
    patch.status["ticks"] = status.get("ticks", 0) + 1
