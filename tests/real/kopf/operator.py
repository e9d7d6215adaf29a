"""What operator.ts is in Lotse, in Kopf: the same handlers under the same ids, on one kind. Prints its calls."""

import json
import os

import kopf

GROUP, VERSION, PLURAL = json.loads(os.environ["HANDOVER_KIND"])
SECTION = os.environ["HANDOVER_SECTION"]
STORAGE = os.environ["HANDOVER_STORAGE"]
KIND = (GROUP, VERSION, PLURAL)
NOTES = "handover.example.com"
# Of a lone object nothing is handled at its creation but by the handlers that it asks for.
IN_COMPANY = {"lone": kopf.ABSENT}


@kopf.on.startup()
async def configure(settings, **_):
    settings.posting.enabled = False
    persistence = settings.persistence
    if STORAGE == "prefix":
        persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix="pier.example.com")
        persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(prefix="pier.example.com")
        persistence.finalizer = "pier.example.com/finalizer"
    elif STORAGE == "status":
        persistence.progress_storage = kopf.StatusProgressStorage()
        persistence.diffbase_storage = kopf.StatusDiffBaseStorage()
    elif STORAGE == "old":
        persistence.progress_storage = kopf.StatusProgressStorage()


def journal(id, name, reason, retry=None, diff=()):
    entry = {"id": id, "name": name, "reason": str(reason), "retry": retry, "diff": [list(item) for item in diff]}
    print(json.dumps(entry), flush=True)


def fail_as_noted(annotations, retry):
    if retry < int(annotations.get(f"{NOTES}/failures", "0")):
        raise kopf.TemporaryError("not yet", delay=float(annotations[f"{NOTES}/delay"]))


@kopf.on.create(*KIND, labels=IN_COMPANY)
async def create_fn(name, reason, retry, **_):
    journal("create_fn", name, reason, retry)


@kopf.on.update(*KIND)
async def update_fn(name, reason, retry, diff, **_):
    journal("update_fn", name, reason, retry, diff)


@kopf.on.update(*KIND, id="publish", labels=IN_COMPANY)
@kopf.on.create(*KIND, id="publish", labels=IN_COMPANY)
async def publish(body, name, reason, retry, **_):
    journal("publish", name, reason, retry)
    return {"size": body[SECTION]["size"]}


@kopf.on.field(*KIND, field=f"{SECTION}.size", id="grow", labels=IN_COMPANY)
async def grow(name, reason, retry, diff, **_):
    journal(f"grow/{SECTION}.size", name, reason, retry, diff)


@kopf.on.update(*KIND, id="flaky", labels={"flaky": "yes"})
@kopf.on.create(*KIND, id="flaky", labels={"flaky": "yes"})
async def flaky(name, reason, retry, annotations, **_):
    journal("flaky", name, reason, retry)
    fail_as_noted(annotations, retry)


@kopf.on.create(*KIND, labels={"parts": "yes"})
async def parts(name, reason, annotations, **_):
    @kopf.subhandler(id="hull")
    async def hull(**_):
        journal("parts/hull", name, reason)

    @kopf.subhandler(id="sail")
    async def sail(**_):
        journal("parts/sail", name, reason)
        if annotations[f"{NOTES}/fails-in"] == "kopf":
            raise kopf.TemporaryError("not here", delay=float(annotations[f"{NOTES}/delay"]))


@kopf.on.resume(*KIND, labels={"resume": "yes"})
async def resume_fn(name, reason, retry, **_):
    journal("resume_fn", name, reason, retry)


@kopf.on.delete(*KIND)
async def delete_fn(name, reason, retry, **_):
    journal("delete_fn", name, reason, retry)


@kopf.on.delete(*KIND, id="flaky_delete", labels={"flaky-delete": "yes"})
async def flaky_delete(name, reason, retry, annotations, **_):
    journal("flaky_delete", name, reason, retry)
    fail_as_noted(annotations, retry)
