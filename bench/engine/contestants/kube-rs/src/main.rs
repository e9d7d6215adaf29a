//! The job of this benchmark with kube-rs: a Controller over its store, a merge patch of the status, and where a child is
//! wanted a server-side apply of it. Ten reconciliations at a time, as the floor has ten connections; the client has no
//! limit of requests.
//!
//! Children are applied and not watched, as everybody here does: who watches them is measured in bench/reconcile.
use std::{collections::BTreeMap, env, error::Error, sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, CustomResource, Resource, ResourceExt,
    api::{ObjectMeta, Patch, PatchParams},
    runtime::{
        controller::{Action, Config, Controller},
        watcher,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const WORKERS: u16 = 10;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "bench.example.com", version = "v1", kind = "Widget", namespaced, status = "WidgetStatus")]
struct WidgetSpec {
    size: i64,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct WidgetStatus {
    size: Option<i64>,
}

/// What a reconciliation works with.
struct Context {
    widgets: Api<Widget>,
    /// Only where a child is wanted.
    children: Option<Api<ConfigMap>>,
}

async fn reconcile(widget: Arc<Widget>, context: Arc<Context>) -> Result<Action, kube::Error> {
    let size = widget.spec.size;
    // Its own write comes back as an event: nothing is left to do then.
    if widget.status.as_ref().and_then(|status| status.size) == Some(size) {
        return Ok(Action::await_change());
    }
    let name = widget.name_any();
    if let Some(children) = &context.children {
        let child = child_of(&widget);
        children.patch(&name, &PatchParams::apply("kube-rs").force(), &Patch::Apply(&child)).await?;
    }
    let status = json!({ "status": WidgetStatus { size: Some(size) } });
    context.widgets.patch_status(&name, &PatchParams::default(), &Patch::Merge(&status)).await?;
    Ok(Action::await_change())
}

fn child_of(widget: &Widget) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: widget.meta().name.clone(),
            namespace: widget.meta().namespace.clone(),
            owner_references: widget.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("size".to_owned(), widget.spec.size.to_string())])),
        ..ConfigMap::default()
    }
}

fn retry(widget: Arc<Widget>, error: &kube::Error, _: Arc<Context>) -> Action {
    // An object may be gone by now.
    if matches!(error, kube::Error::Api(answer) if answer.code == 404) {
        return Action::await_change();
    }
    eprintln!("{}: {error}", widget.name_any());
    Action::requeue(Duration::from_secs(1))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let namespace = env::var("BENCH_NAMESPACE")?;
    let client = Client::try_default().await?;
    let widgets = Api::<Widget>::namespaced(client.clone(), &namespace);
    let children = env::var_os("BENCH_CHILD").map(|_| Api::namespaced(client, &namespace));
    Controller::new(widgets.clone(), watcher::Config::default())
        .with_config(Config::default().concurrency(WORKERS))
        .shutdown_on_signal()
        .run(reconcile, retry, Arc::new(Context { widgets, children }))
        .for_each(|_| async {}) // what fails is told by the policy above
        .await;
    Ok(())
}
