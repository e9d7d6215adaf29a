import { type Fields, isSet, struct, structs, text } from "../pod/index.ts";

/** A file in a volume, and where it comes from. */
interface Place {
  readonly path: string;
  readonly source: string;
}

const quoted = (value: unknown): string => JSON.stringify(text(value));

/** Files of one volume that would lie over, or in, each other. */
export function overlapWarnings(volumes: readonly Fields[]): string[] {
  return volumes.flatMap((volume) => [
    ...plain(volume, struct(volume.configMap), ({ name }) => `ConfigMap ${quoted(name)}`),
    ...plain(volume, struct(volume.secret), ({ secretName }) => `Secret ${quoted(secretName)}`),
    ...plain(volume, struct(volume.downwardAPI), () => "DownwardAPI"),
    ...projected(volume),
  ]);
}

function plain(volume: Fields, source: Fields | undefined, describe: (source: Fields) => string): string[] {
  if (!source) return [];
  const places = structs(source.items).map(({ path }) => ({ path: text(path), source: "" }));
  return collisions(places).map((found) => told(volume, describe(source), found));
}

function projected(volume: Fields): string[] {
  const source = struct(volume.projected);
  if (!source) return [];
  const warnings: string[] = [];
  const known: Place[] = [];
  for (const projection of structs(source.sources)) {
    if (!Object.values(projection).some(isSet)) {
      warnings.push(`volume ${quoted(volume.name)} (Projected) has no sources provided`);
      continue;
    }
    for (const found of collisions(placesOf(projection), known)) warnings.push(told(volume, "Projected", found));
  }
  return warnings;
}

const told = (volume: Fields, what: string, found: string): string =>
  `volume ${quoted(volume.name)} (${what}): overlapping paths: ${found}`;

function placesOf(projection: Fields): Place[] {
  const listed = (source: Fields, name: string) =>
    structs(source.items).map(({ path }) => ({ path: text(path), source: name }));
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = projection;
  const [map, hidden] = [struct(configMap), struct(secret)];
  if (map && isSet(map.items)) return listed(map, `ConfigMap ${quoted(map.name)}`);
  if (hidden && isSet(hidden.items)) return listed(hidden, `Secret ${quoted(hidden.name)}`);
  const downward = struct(downwardAPI);
  if (downward && isSet(downward.items)) return listed(downward, "DownwardAPI");
  const token = struct(serviceAccountToken);
  if (token) return [{ path: text(token.path), source: "ServiceAccountToken" }];
  const bundle = struct(clusterTrustBundle);
  if (bundle) {
    const name = quoted(bundle.name ?? bundle.signerName);
    return [{ path: text(bundle.path), source: `ClusterTrustBundle ${name}` }];
  }
  const certificate = struct(podCertificate);
  if (!certificate) return [];
  const parts = [
    { path: text(certificate.certificateChainPath), source: "PodCertificate chain" },
    { path: text(certificate.keyPath), source: "PodCertificate key" },
    { path: text(certificate.credentialBundlePath), source: "PodCertificate credential bundle" },
  ];
  return parts.filter(({ path }) => path !== "");
}

/** What lies over something known; all of it is known afterwards. */
function collisions(places: readonly Place[], known: Place[] = []): string[] {
  return places.flatMap(({ path: written, source }) => {
    const place = { path: written.replace(/\/+$/, ""), source };
    const hits = place.path === "" ? [] : known.filter((other) => overlaps(place.path, other.path));
    known.push(place);
    return hits.map((other) => `${shown(place)} with ${shown(other)}`);
  });
}

const overlaps = (a: string, b: string): boolean =>
  b !== "" && (`${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`));

const shown = ({ path, source }: Place): string => JSON.stringify(path) + (source === "" ? "" : ` (${source})`);
