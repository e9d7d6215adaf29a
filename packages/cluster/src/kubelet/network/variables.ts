import type { LocalPort, ServicePort } from "./services.ts";

const upper = (name: string): string => name.toUpperCase().replaceAll("-", "_");

/**
 * The variables by which a container learns of the Services in its namespace: `NGINX_SERVICE_HOST`, `NGINX_SERVICE_PORT`
 * and their kin. As in any cluster they tell of Services that are there when the container starts.
 */
export function serviceVariables(
  ports: readonly ServicePort[],
  namespace: string,
  host: string,
  local: LocalPort,
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const port of ports) {
    const at = local(port);
    if (!port.linked || port.namespace !== namespace || at === undefined) continue;
    const prefix = upper(port.service);
    const url = `tcp://${host}:${at}`;
    // What has no port in its name is about the first one.
    variables[`${prefix}_SERVICE_HOST`] ??= host;
    variables[`${prefix}_SERVICE_PORT`] ??= String(at);
    variables[`${prefix}_PORT`] ??= url;
    if (port.name !== "") variables[`${prefix}_SERVICE_PORT_${upper(port.name)}`] = String(at);
    const link = `${prefix}_PORT_${port.port}_TCP`;
    Object.assign(variables, {
      [link]: url,
      [`${link}_PROTO`]: "tcp",
      [`${link}_PORT`]: String(at),
      [`${link}_ADDR`]: host,
    });
  }
  return variables;
}
