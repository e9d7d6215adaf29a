import { describe, expect, it } from "vitest";
import { answerConversion } from "./review.ts";
import { SHOP } from "./test-kinds.ts";

const REVIEW = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" };

const item = (name: string, version: string, spec: object) => ({
  apiVersion: `example.com/${version}`,
  kind: "Shop",
  metadata: { name, namespace: "default", uid: name },
  spec,
});

function ask(request: unknown, more: object = {}) {
  const told: string[] = [];
  const answer = answerConversion(
    [SHOP, { ...SHOP, kind: "Stall", plural: "stalls" }],
    { ...REVIEW, request, ...more },
    ({ message }) => told.push(message),
  );
  return { ...answer, told };
}

describe("the API server asks", () => {
  it("for several objects of several kinds, and gets them in order; those of the right version as they are", () => {
    const objects = [
      item("a", "v1beta1", { size: "40m2" }),
      { ...item("b", "v1beta1", { size: "9m2" }), kind: "Stall" },
      item("c", "v1", { squareMetres: 3 }),
    ];
    expect(ask({ uid: "7", desiredAPIVersion: "example.com/v1", objects })).toEqual({
      status: 200,
      told: [],
      body: {
        ...REVIEW,
        response: {
          uid: "7",
          result: { status: "Success" },
          convertedObjects: [
            item("a", "v1", { squareMetres: 40 }),
            { ...item("b", "v1", { squareMetres: 9 }), kind: "Stall" },
            item("c", "v1", { squareMetres: 3 }),
          ],
        },
      },
    });
  });

  it("for a list", () => {
    const list = {
      apiVersion: "example.com/v1beta1",
      kind: "ShopList",
      metadata: {},
      items: [item("a", "v1beta1", { size: "4m2" })],
    };
    expect(ask({ uid: "7", desiredAPIVersion: "example.com/v1", objects: [list] }).body).toMatchObject({
      response: {
        convertedObjects: [{ ...list, apiVersion: "example.com/v1", items: [item("a", "v1", { squareMetres: 4 })] }],
      },
    });
  });

  it("for nothing", () => {
    expect(ask({ uid: "7", desiredAPIVersion: "example.com/v1" }).body).toMatchObject({
      response: { convertedObjects: [] },
    });
  });

  it("and one object that cannot be converted fails all of them, with its sentence", () => {
    const objects = [item("a", "v1beta1", { size: "40m2" }), item("b", "v1beta1", {}), item("c", "v1", null as never)];
    const message =
      "Shop default/c cannot be converted from v1 to v1beta1: spec: Cannot read properties of null (reading 'squareMetres')";
    expect(ask({ uid: "7", desiredAPIVersion: "example.com/v1beta1", objects })).toEqual({
      status: 200,
      told: [message],
      body: {
        ...REVIEW,
        response: {
          uid: "7",
          result: { status: "Failure", message, reason: "InternalError", code: 500 },
          convertedObjects: [],
        },
      },
    });
  });

  it.each([
    [{ apiVersion: "example.com/v1", kind: "House" }, "no conversion of House in example.com/v1 is served here"],
    [{ apiVersion: "v1", kind: "Pod" }, "no conversion of Pod in v1 is served here"],
    [{ kind: "Shop" }, "objects[0] of the review has no apiVersion and kind"],
    [null, "objects[0] of the review has no apiVersion and kind"],
    [
      item("a", "v7", {}),
      "Shop default/a cannot be converted from v7 to v1: Shop has no version v7; it has v1beta1, v1",
    ],
  ])("for what is not here: %j", (object, message) => {
    const { body } = ask({ uid: "7", desiredAPIVersion: "example.com/v1", objects: [object] });
    expect(body).toMatchObject({ response: { uid: "7", result: { status: "Failure", message } } });
  });

  it("for another group", () => {
    const objects = [item("a", "v1", {})];
    expect(ask({ uid: "7", desiredAPIVersion: "other.com/v1", objects }).body).toMatchObject({
      response: { result: { message: "Shop of example.com/v1 has no version other.com/v1" } },
    });
  });
});

describe("what is no review gets a 400 that says why", () => {
  it.each<[unknown, string]>([
    [undefined, "the body is not a ConversionReview"],
    ["text", "the body is not a ConversionReview"],
    [{ kind: "AdmissionReview" }, "the body is not a ConversionReview"],
    [
      { ...REVIEW, apiVersion: "apiextensions.k8s.io/v1beta1" },
      "the review has the version apiextensions.k8s.io/v1beta1; apiextensions.k8s.io/v1 is spoken here",
    ],
    [REVIEW, "the ConversionReview has no request"],
    [{ ...REVIEW, request: {} }, "the request of the ConversionReview has no uid"],
    [{ ...REVIEW, request: { uid: "7" } }, "the request of the ConversionReview has no desiredAPIVersion"],
    [
      { ...REVIEW, request: { uid: "7", desiredAPIVersion: "example.com/v1", objects: {} } },
      "the objects of the ConversionReview are no list",
    ],
  ])("%j", (review, message) => {
    expect(answerConversion([SHOP], review, () => {})).toEqual({
      status: 400,
      body: { kind: "Status", apiVersion: "v1", status: "Failure", message, reason: "BadRequest", code: 400 },
    });
  });
});
