/** `lotse generate dockerfile`: the file, what keeps secrets out of its image, and what a build of it would miss. */
import path from "node:path";
import { BASE_IMAGES, BUNDLER, DOCKERIGNORE, dockerfile, type GeneratedFile } from "../../generate/index.ts";
import { type LoadedOperator, shownPath } from "../project/index.ts";
import { readIfThere } from "../recording/index.ts";
import type { Io } from "../terminal/index.ts";
import { Problem } from "../terminal/index.ts";

/** The flags that matter here. */
export interface DockerfileOptions {
  readonly output?: string | undefined;
  /** Images with their digests. */
  readonly pin?: readonly string[] | undefined;
}

/** Into a folder that has no `.dockerignore` goes one; a stream has room for one file. */
export function makeDockerfile(
  { operator, file }: LoadedOperator,
  { output, pin = [] }: DockerfileOptions,
  io: Io,
): GeneratedFile[] {
  for (const image of pin) checkPin(image);
  tellWhatIsMissing(io);
  const text = dockerfile({ name: operator.name, file: shownPath(path.resolve(io.cwd, file), io.cwd), pins: pin });
  const ignores =
    output !== undefined && readIfThere(path.resolve(io.cwd, output, ".dockerignore")) === undefined
      ? [{ name: ".dockerignore", text: DOCKERIGNORE }]
      : [];
  return [{ name: "Dockerfile", text }, ...ignores];
}

function checkPin(pin: string): void {
  const [, image] = /^([^@\s]+)@sha256:[0-9a-f]{64}$/.exec(pin) ?? [];
  const known: readonly string[] = Object.values(BASE_IMAGES);
  if (image !== undefined && known.includes(image)) return;
  throw new Problem(
    {
      what: `--pin ${pin} pins no image of the Dockerfile`,
      why:
        image === undefined
          ? "a digest is sha256: and 64 digits from 0 to f"
          : `it uses ${known.join(" and ")}; others are chosen by docker build --build-arg BUILD_IMAGE=… or RUN_IMAGE=…`,
      todo: `write it like ${BASE_IMAGES.build}@sha256:…; docker buildx imagetools inspect ${BASE_IMAGES.build} tells the digest`,
    },
    { exitCode: 2 },
  );
}

/** The build installs what the lock names, and nothing is fetched besides: the bundler has to be among it. */
function tellWhatIsMissing(io: Io): void {
  const lock = nearestLock(io.cwd);
  const install = `npm install --save-dev ${BUNDLER}`;
  if (lock === undefined) {
    io.stderr.write(
      `Warning: there is no package-lock.json, from which the image is built\nDo:      ${install}, and put the lock beside the code\n`,
    );
  } else if (!lock.includes(`"node_modules/${BUNDLER}"`)) {
    io.stderr.write(
      `Warning: ${BUNDLER}, which makes the bundle, is not in package-lock.json: the image cannot be built\nDo:      ${install}\n`,
    );
  }
}

function nearestLock(from: string): string | undefined {
  for (let folder = path.resolve(from); ; folder = path.dirname(folder)) {
    const text = readIfThere(path.join(folder, "package-lock.json"));
    if (text !== undefined || folder === path.dirname(folder)) return text;
  }
}
