import { describe, expect, it } from "vitest";
import { BASE_IMAGES, bundleCommands, dockerfile } from "./dockerfile.ts";

const INPUT = { name: "rates", file: "src/operator.ts" };
const DIGEST = `sha256:${"0123456789abcdef".repeat(4)}`;

describe("the Dockerfile", () => {
  it("installs what the lock names, runs no package's scripts, and fetches no tool besides", () => {
    const [install, , bundle] = bundleCommands(INPUT);
    expect(install).toBe("npm ci --ignore-scripts");
    expect(bundle).toMatch(/^node_modules\/\.bin\/esbuild lotse-entry\.mjs --bundle /);
    const text = dockerfile(INPUT);
    expect(text).not.toMatch(/npm (install|i|add)\b|npx|curl|wget|apk|apt/);
    expect(text.match(/^(FROM|COPY|RUN|USER|CMD) .*$/gm)).toEqual([
      "FROM $BUILD_IMAGE AS build",
      "COPY . .",
      ...bundleCommands(INPUT).map((command) => `RUN ${command}`),
      "FROM $RUN_IMAGE",
      "COPY --from=build /app/dist/operator.mjs ./",
      "USER 65532",
      'CMD ["operator.mjs"]',
    ]);
  });

  it("begins with images by digest where it is told them, and says where it is not", () => {
    const loose = dockerfile(INPUT);
    expect(loose).toContain(`ARG BUILD_IMAGE=${BASE_IMAGES.build}\nARG RUN_IMAGE=${BASE_IMAGES.run}\n`);
    expect(loose.match(/is a tag, which can move/g)).toHaveLength(2);
    const half = dockerfile({ ...INPUT, pins: [`${BASE_IMAGES.run}@${DIGEST}`] });
    expect(half).toContain(`ARG BUILD_IMAGE=${BASE_IMAGES.build}\nARG RUN_IMAGE=${BASE_IMAGES.run}@${DIGEST}\n`);
    expect(half).toContain(`# ${BASE_IMAGES.build} is a tag, which can move.`);
    expect(half).not.toContain(`# ${BASE_IMAGES.run} is`);
    const pinned = dockerfile({ ...INPUT, pins: Object.values(BASE_IMAGES).map((image) => `${image}@${DIGEST}`) });
    expect(pinned).not.toMatch(/can move|--pin/);
  });
});
