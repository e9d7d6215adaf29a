/** The Dockerfile of an operator: one stage bundles it, the other has Node.js, the bundle and nothing else. */

/** What it is made of. */
export interface DockerfileInput {
  /** The operator's file, relative to the folder that is built. */
  readonly file: string;
  readonly name: string;
  /** Images with the digests that they shall have: `node:22-alpine@sha256:…`. */
  readonly pins?: readonly string[] | undefined;
}

/** The file that starts a bundled operator. */
export const ENTRY = "lotse-entry.mjs";

/** What the stages begin with. Only a registry knows their digests of today; a user who has them gives them as pins. */
export const BASE_IMAGES = { build: "node:22-alpine", run: "gcr.io/distroless/nodejs22-debian12:nonroot" } as const;

/** The program that bundles: a package of the project, so that its lock says which one, with its checksum. */
export const BUNDLER = "esbuild";

/** What has no business in an image, nor on its way there: secrets, what is installed anew, what is only for people. */
export const DOCKERIGNORE = `.git
.lotse
node_modules
dist
.env*
*.requests.jsonl
Dockerfile
.dockerignore
`;

/** The commands of the first stage, in order: they run in any folder that has Node.js and npm. */
export function bundleCommands({ file }: Pick<DockerfileInput, "file">): string[] {
  const entry = [
    `import * as exported from ${JSON.stringify(`./${file.replaceAll("\\", "/")}`)};`,
    `import { runBundled } from "lotse/run";`,
    "await runBundled(exported);",
  ].join(" ");
  return [
    // What the lock names and nothing else; no package's own scripts run.
    "npm ci --ignore-scripts",
    `printf '%s\\n' ${quote(entry)} > ${ENTRY}`,
    // The name of a function is a handler's id, which is remembered on objects: a bundle must not change it.
    `node_modules/.bin/${BUNDLER} ${ENTRY} --bundle --platform=node --format=esm --target=node20 --minify --keep-names --outfile=dist/operator.mjs --banner:js=${quote(
      'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    )}`,
  ];
}

/** The whole file. */
export function dockerfile(input: DockerfileInput): string {
  const { name, pins = [] } = input;
  const pinned = (image: string) => pins.find((pin) => pin.startsWith(`${image}@`)) ?? image;
  const [build, run] = [pinned(BASE_IMAGES.build), pinned(BASE_IMAGES.run)];
  const moving = [build, run].filter((image) => !image.includes("@"));
  const advice = moving.map(
    (image) => `# ${image} is a tag, which can move. Its digest: docker buildx imagetools inspect ${image}\n`,
  );
  const how = moving.length > 0 ? `# Written here by: lotse generate dockerfile --pin ${moving[0]}@sha256:…\n` : "";
  return `# ${name}: built by \`docker build -t ${name} .\`
${advice.join("")}${how}ARG BUILD_IMAGE=${build}
ARG RUN_IMAGE=${run}

FROM $BUILD_IMAGE AS build
WORKDIR /app
COPY . .
${bundleCommands(input)
  .map((command) => `RUN ${command}`)
  .join("\n")}

FROM $RUN_IMAGE
WORKDIR /app
COPY --from=build /app/dist/operator.mjs ./
ENV NODE_ENV=production
USER 65532
CMD ["operator.mjs"]
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
