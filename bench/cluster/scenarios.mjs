// What each controller is given to do: `prepare` comes before the event loop is measured, `run` while it is.

const container = { name: "c", image: "i" };
const template = (app, labels = {}, spec = {}) => ({
  metadata: { labels: { app, ...labels } },
  spec: { containers: [container], ...spec },
});
const workload = (name, spec = {}, labels = {}) => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: template(name, labels), ...spec },
});
const job = (name, spec = {}) => ({
  metadata: { name },
  spec: { template: template(name, { ends: "soon" }, { restartPolicy: "Never" }), ...spec },
});

const [apps, batch, core] = ["/apis/apps/v1", "/apis/batch/v1", "/api/v1"].map((group) => (rest) => {
  const [plural, ...more] = rest.split("/");
  return [`${group}/namespaces/default/${plural}`, ...more].join("/");
});
const post = (path, body) => async (api) => void (await api.send("POST", path, body));

export async function until(check) {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 100));
}

export const gone = async (api, path) => {
  try {
    await api.get(path);
    return false;
  } catch (error) {
    if (error.message.includes(": 404 ")) return true;
    throw error;
  }
};

const has = (path, what) => (api) => until(async () => what((await api.get(path)).status ?? {}));
const ready = (path, n) => has(path, ({ readyReplicas }) => readyReplicas === n);

/** How many there are, without sending any of them but one. */
export const count = async (api, path) => {
  const { items, metadata } = await api.get(`${path}?limit=1`);
  return items.length + (metadata.remainingItemCount ?? 0);
};

/** One after the other. */
const all =
  (...steps) =>
  async (api, n) => {
    for (const step of steps) await step(api, n);
  };

const inGroups = async (n, act) => {
  // A few at a time: it is the controllers that are measured, not many requests that come in the same moment.
  for (let at = 0; at < n; at += 4) {
    await Promise.all(Array.from({ length: Math.min(4, n - at) }, (_, more) => act(at + more)));
  }
};

const deployment =
  (extra = {}) =>
  async (api, n) => {
    await api.send("POST", apps("deployments"), workload("web", { replicas: n, ...extra }));
    await ready(apps("deployments/web"), n)(api);
  };
const service = (name) => ({ metadata: { name }, spec: { selector: { app: "web" }, ports: [{ port: 80 }] } });
const remove = (path, propagationPolicy) => async (api) => {
  await api.send("DELETE", path, { propagationPolicy });
  await until(() => gone(api, path));
};
const noPods = (api) => until(async () => (await count(api, core("pods"))) === 0);

/** Before anything is measured: code that runs for the first time is compiled first, whoever runs it. */
export async function warmUp(api) {
  await api.send("POST", "/api/v1/namespaces", { metadata: { name: "warm" } });
  const [deployments, jobs] = ["apps/v1/namespaces/warm/deployments", "batch/v1/namespaces/warm/jobs"];
  await api.send("POST", `/apis/${deployments}`, workload("web", { replicas: 40 }));
  await ready(`/apis/${deployments}/web`, 40)(api);
  await api.send("POST", `/apis/${jobs}`, job("once", { completions: 20, parallelism: 20 }));
  await has(`/apis/${jobs}/once`, ({ succeeded }) => succeeded === 20)(api);
  await remove("/api/v1/namespaces/warm", "Background")(api);
}

export const scenarios = [
  { name: "Deployment: pods come", run: deployment() },
  {
    name: "Deployment: another image",
    prepare: deployment(),
    run: async (api, n) => {
      const spec = { template: { spec: { containers: [{ ...container, image: "other" }] } } };
      await api.merge(apps("deployments/web"), { spec });
      await has(
        apps("deployments/web"),
        ({ observedGeneration, ...status }) =>
          observedGeneration === 2 && status.updatedReplicas === n && status.replicas === n,
      )(api);
    },
  },
  {
    name: "Deployment: to nothing",
    prepare: deployment(),
    run: async (api) => {
      await api.merge(apps("deployments/web"), { spec: { replicas: 0 } });
      await noPods(api);
    },
  },
  {
    name: "ReplicationController: pods come",
    run: async (api, n) => {
      const spec = { replicas: n, selector: { app: "old" }, template: template("old") };
      await api.send("POST", core("replicationcontrollers"), { metadata: { name: "old" }, spec });
      await ready(core("replicationcontrollers/old"), n)(api);
    },
  },
  {
    name: "StatefulSet: one after the other",
    run: async (api, n) => {
      await api.send("POST", apps("statefulsets"), workload("db", { serviceName: "db", replicas: n }));
      await ready(apps("statefulsets/db"), n)(api);
    },
  },
  {
    name: "StatefulSet: all at once, with volumes",
    run: async (api, n) => {
      const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
      const volumeClaimTemplates = [{ metadata: { name: "data" }, spec: claim }];
      const spec = { serviceName: "db", replicas: n, podManagementPolicy: "Parallel", volumeClaimTemplates };
      await api.send("POST", apps("statefulsets"), workload("db", spec));
      await ready(apps("statefulsets/db"), n)(api);
    },
  },
  {
    name: "DaemonSet: as many nodes",
    prepare: (api, n) =>
      inGroups(n, (at) => api.send("POST", "/api/v1/nodes", { metadata: { name: `node-${at}` }, spec: {} })),
    run: async (api, n) => {
      await api.send("POST", apps("daemonsets"), workload("agent"));
      await has(apps("daemonsets/agent"), (status) => status.currentNumberScheduled >= n)(api);
    },
  },
  {
    name: "Job: all pods at once",
    run: async (api, n) => {
      await api.send("POST", batch("jobs"), job("once", { completions: n, parallelism: n }));
      await has(batch("jobs/once"), ({ succeeded, active }) => succeeded === n && !active)(api);
    },
  },
  {
    name: "Job: with indexes",
    run: async (api, n) => {
      const spec = { completions: n, parallelism: n, completionMode: "Indexed", backoffLimitPerIndex: 1 };
      await api.send("POST", batch("jobs"), job("once", spec));
      await has(batch("jobs/once"), ({ succeeded, active }) => succeeded === n && !active)(api);
    },
  },
  {
    name: "Jobs: as many, of one pod each",
    run: async (api, n) => {
      await inGroups(n, (at) => api.send("POST", batch("jobs"), job(`job-${at}`)));
      for (let at = 0; at < n; at++) await has(batch(`jobs/job-${at}`), ({ succeeded }) => succeeded === 1)(api);
    },
  },
  {
    name: "CronJobs: as many, due in the same second",
    prepare: (api, n) =>
      inGroups(n, (at) => {
        const jobTemplate = { spec: job("x").spec };
        const spec = { schedule: "* * * * *", jobTemplate };
        return api.send("POST", batch("cronjobs"), { metadata: { name: `cron-${at}` }, spec });
      }),
    run: (api, n) => until(async () => (await count(api, batch("jobs"))) >= n),
  },
  {
    name: "Service, 20 of them, for the same pods",
    prepare: (api) => inGroups(20, (at) => api.send("POST", core("services"), service(`web-${at}`))),
    run: all(deployment(), (api, n) =>
      until(async () => {
        const last = "?labelSelector=kubernetes.io/service-name=web-19";
        const { items } = await api.get(`/apis/discovery.k8s.io/v1/namespaces/default/endpointslices${last}`);
        const addresses = items.flatMap(({ endpoints }) => endpoints ?? []);
        return addresses.filter(({ conditions }) => conditions?.ready).length === n;
      }),
    ),
  },
  {
    name: "PodDisruptionBudget",
    prepare: post("/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
      metadata: { name: "web" },
      spec: { minAvailable: "50%", selector: { matchLabels: { app: "web" } } },
    }),
    run: all(deployment(), (api, n) =>
      has(
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web",
        ({ currentHealthy }) => currentHealthy === n,
      )(api),
    ),
  },
  {
    name: "ResourceQuota",
    prepare: (api, n) =>
      post(core("resourcequotas"), { metadata: { name: "all" }, spec: { hard: { pods: String(2 * n) } } })(api),
    run: all(deployment(), (api, n) => has(core("resourcequotas/all"), ({ used }) => used?.pods === String(n))(api)),
  },
  {
    name: "garbage collection: background",
    prepare: deployment(),
    run: all(remove(apps("deployments/web"), "Background"), noPods),
  },
  {
    name: "garbage collection: foreground",
    prepare: deployment(),
    run: all(remove(apps("deployments/web"), "Foreground"), noPods),
  },
  {
    name: "garbage collection: orphans",
    // Without its Deployment, which would make the ReplicaSet anew.
    prepare: all(deployment(), remove(apps("deployments/web"), "Orphan")),
    run: async (api) => {
      const { items } = await api.get(apps("replicasets"));
      await remove(apps(`replicasets/${items[0].metadata.name}`), "Orphan")(api);
    },
  },
  {
    name: "namespace with pods and ten times as many others",
    prepare: async (api, n) => {
      await api.send("POST", "/api/v1/namespaces", { metadata: { name: "full" } });
      const place = "/apis/apps/v1/namespaces/full/deployments";
      await api.send("POST", place, workload("web", { replicas: n }));
      const path = "/api/v1/namespaces/full/configmaps";
      const data = { text: "x".repeat(100) };
      await inGroups(10 * n, (at) => api.send("POST", path, { metadata: { name: `one-${at}` }, data }));
      await ready(`${place}/web`, n)(api);
    },
    run: remove("/api/v1/namespaces/full", "Background"),
  },
  {
    name: "pods that nobody owns, all deleted at once",
    prepare: (api, n) =>
      inGroups(n, (at) =>
        api.send("POST", core("pods"), { metadata: { name: `pod-${at}` }, spec: { containers: [container] } }),
      ),
    run: async (api) => {
      await api.send("DELETE", core("pods"), { gracePeriodSeconds: 0 });
      await noPods(api);
    },
  },
];
