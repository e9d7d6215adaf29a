// The API report of a package: what its entry points export, with every signature. It is committed, so that a change of
// a public name or type is seen in review.

/**
 * @param {string} name the package's
 * @param {import("./surface.mjs").Surface[]} surfaces
 */
export function reportOf(name, surfaces) {
  const parts = [
    `# What \`${name}\` exports`,
    "Written by `npm run api`, never by hand; `npm run check` fails when it is not what the sources say.",
  ];
  for (const { entry, names, borrowed } of surfaces) {
    parts.push(
      `## \`${entry}\``,
      `${count(names.filter(({ exported }) => exported).length, "name")}.${borrowedSentence(borrowed)}`,
    );
    if (names.length > 0) parts.push(`\`\`\`ts\n${names.map(({ text }) => text).join("\n\n")}\n\`\`\``);
  }
  return `${parts.join("\n\n")}\n`;
}

const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

function borrowedSentence(borrowed) {
  const from = new Map();
  for (const one of borrowed) from.set(one.from, [...(from.get(one.from) ?? []), one.name]);
  return [...from]
    .map(([source, names]) =>
      names.includes("*")
        ? ` Everything of \`${source}\`.`
        : ` Of \`${source}\`: ${names.map((one) => `\`${one}\``).join(", ")}.`,
    )
    .join("");
}
