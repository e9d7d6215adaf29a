"""The same operator as in peer.ts, in Kopf: tells what it handles, and gives way by the peering object."""

import os

import kopf


@kopf.on.startup()
async def configure(settings, **_):
    settings.posting.enabled = False
    settings.peering.lifetime = int(os.environ["PEER_LIFETIME"])


@kopf.on.create("configmaps", labels={"peers": "yes"})
@kopf.on.update("configmaps", labels={"peers": "yes"})
async def handle(name, reason, **_):
    print(f"kopf: {reason} {name}", flush=True)
