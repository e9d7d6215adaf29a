import { describe, expect, it } from "vitest";
import { aboutOf } from "./about.ts";

describe("what a package says about itself", () => {
  it("is nothing but a first version when there is no package", () => {
    expect(aboutOf(undefined)).toEqual({
      version: "0.1.0",
      description: undefined,
      homepage: undefined,
      source: undefined,
      author: undefined,
      keywords: [],
    });
  });

  it.each([
    ["1.2.3", "1.2.3"],
    ["1.2.3-beta.1+build.5", "1.2.3-beta.1+build.5"],
    ["v1.2.3", "0.1.0"],
    ["1.2", "0.1.0"],
    [3, "0.1.0"],
  ])("has the version %j as %s", (version, expected) => expect(aboutOf({ version }).version).toBe(expected));

  it.each([
    ["https://github.com/a/b", "https://github.com/a/b"],
    [{ type: "git", url: "git+https://github.com/a/b.git" }, "https://github.com/a/b"],
    ["git+ssh://git@github.com/a/b.git", "https://github.com/a/b"],
    ["github:a/b", "https://github.com/a/b"],
    ["a/b", "https://github.com/a/b"],
    ["gist:11081aaa281", undefined],
    [{}, undefined],
  ])("has the repository %j at %s", (repository, expected) => expect(aboutOf({ repository }).source).toBe(expected));

  it.each([
    ["Jo", { name: "Jo" }],
    ["Jo Doe <jo@example.com>", { name: "Jo Doe", email: "jo@example.com" }],
    ["Jo (https://jo.example.com)", { name: "Jo", url: "https://jo.example.com" }],
    [
      { name: "Jo", email: "jo@example.com", url: "https://jo.example.com" },
      { name: "Jo", email: "jo@example.com", url: "https://jo.example.com" },
    ],
    [{ name: "Jo", email: "nowhere", url: "nowhere" }, { name: "Jo" }],
    [{ email: "jo@example.com" }, undefined],
    ["", undefined],
  ])("is of the author %j", (author, expected) => expect(aboutOf({ author }).author).toEqual(expected));

  it("has its texts on one line, and only what is text", () => {
    const about = aboutOf({ description: " two\n lines ", homepage: "ftp://x", keywords: ["a", 1, ""] });
    expect(about).toMatchObject({ description: "two lines", homepage: undefined, keywords: ["a"] });
  });
});
