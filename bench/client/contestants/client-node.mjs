import { CoreV1Api, KubeConfig, makeInformer } from "@kubernetes/client-node";

export async function connect() {
  const config = new KubeConfig();
  config.loadFromDefault();
  return { config, core: config.makeApiClient(CoreV1Api) };
}

export const get = ({ core }, namespace, name) => core.readNamespacedConfigMap({ namespace, name });

export const list = async ({ core }, namespace) => (await core.listNamespacedPod({ namespace })).items;

export async function watch({ config, core }, namespace, onChange) {
  const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/pods`, () =>
    core.listNamespacedPod({ namespace }),
  );
  informer.on("update", onChange);
  await informer.start();
  return { size: () => informer.list().length, newest: (name) => informer.get(name, namespace) };
}
