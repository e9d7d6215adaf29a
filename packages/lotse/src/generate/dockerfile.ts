/** The Dockerfile of an operator: one stage bundles it, the other has Node.js, the bundle and nothing else. */

/** What it is made of. */
export interface DockerfileInput {
  /** The operator's file, relative to the folder that is built. */
  readonly file: string;
  readonly name: string;
}

/** The file that starts a bundled operator. */
export const ENTRY = "lotse-entry.mjs";

/** The commands of the first stage, in order: they run in any folder that has Node.js and npm. */
export function bundleCommands({ file }: Pick<DockerfileInput, "file">): string[] {
  const entry = [
    `import * as exported from ${JSON.stringify(`./${file.replaceAll("\\", "/")}`)};`,
    `import { runBundled } from "lotse/run";`,
    "await runBundled(exported);",
  ].join(" ");
  // The name of a function is a handler's id, which is remembered on objects: a bundle must not change it.
  return [
    "npm ci",
    `printf '%s\\n' ${quote(entry)} > ${ENTRY}`,
    `npx --yes esbuild@0.28 ${ENTRY} --bundle --platform=node --format=esm --target=node20 --minify --keep-names --outfile=dist/operator.mjs --banner:js=${quote(
      'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    )}`,
  ];
}

/** The whole file. */
export function dockerfile(input: DockerfileInput): string {
  return `# ${input.name}: built by \`docker build -t ${input.name} .\`
FROM node:22-alpine AS build
WORKDIR /app
COPY . .
${bundleCommands(input)
  .map((command) => `RUN ${command}`)
  .join("\n")}

FROM gcr.io/distroless/nodejs22-debian12:nonroot
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
